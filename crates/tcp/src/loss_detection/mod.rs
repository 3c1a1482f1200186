//! Loss detection: by duplicate ACKs ([`dupack`]), or by transmission times ([`rack`]). By counting
//! SACKed packets: [`crate::Scoreboard::lost_below`].

pub(crate) mod dupack;
pub(crate) mod rack;
