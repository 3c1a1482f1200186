//! Registry of all rule families.

use crate::{
    FamilyOf, Rule, bbr, bic, bimodal, binomial, cubic, dctcp, formula, gaimd, highspeed, htcp,
    illinois, kernel_cubic, kernel_reno, ledbat, linear, mraimd, nada, prague, scalable, vegas,
    westwood,
};

/// A named family of rules.
pub type Family = FamilyOf<Rule>;

/// The entry of a rule's file; the rule becomes this variant of [`Rule`].
macro_rules! family {
    ($variant:ident($entry:path)) => {
        $entry.built_by(|values| Rule::$variant(($entry.build)(values)))
    };
}

/// Congestion controls of the Linux kernel with models of their own, by the kernel's names.
pub(crate) const KERNEL_MODELS: &[Family] =
    &[family!(KernelReno(kernel_reno::FAMILY)), family!(KernelCubic(kernel_cubic::FAMILY))];

/// Every built-in family.
pub const FAMILIES: &[Family] = &[
    family!(Linear(linear::AIMD)),
    family!(Linear(linear::AIAD)),
    family!(Linear(linear::MIMD)),
    family!(Linear(linear::MIAD)),
    family!(Linear(linear::AIMAD)),
    family!(Linear(linear::MAIMD)),
    family!(Linear(linear::LINEAR)),
    family!(Gaimd(gaimd::FAMILY)),
    family!(Binomial(binomial::FAMILY)),
    family!(Binomial(binomial::IIAD)),
    family!(Binomial(binomial::SQRT)),
    family!(Bimodal(bimodal::FAMILY)),
    family!(MrAimd(mraimd::FAMILY)),
    family!(Linear(linear::NEWRENO)),
    family!(Cubic(cubic::FAMILY)),
    family!(Dctcp(dctcp::FAMILY)),
    family!(Prague(prague::FAMILY)),
    family!(HighSpeed(highspeed::FAMILY)),
    family!(Scalable(scalable::FAMILY)),
    family!(Westwood(westwood::FAMILY)),
    family!(Vegas(vegas::FAMILY)),
    family!(Htcp(htcp::FAMILY)),
    family!(Illinois(illinois::FAMILY)),
    family!(Bic(bic::FAMILY)),
    family!(Ledbat(ledbat::FAMILY)),
    family!(Nada(nada::FAMILY)),
    family!(Bbr1(bbr::BBR1)),
    family!(Bbr3(bbr::BBR3)),
    family!(Formula(formula::FAMILY)),
];
