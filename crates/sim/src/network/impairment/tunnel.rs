//! Tunnel around a link (RFC 6040): the link sees the outer header of a packet.
//!
//! On its way through the link a packet keeps its inner ECN field. The outer one follows from it
//! and from [`Flags::OUTER_CE`]: before the packet leaves the wire, only a mark changes it.

use crate::packet::Flags;
use cwndlab_scenario::{TunnelEgress, TunnelIngress, TunnelSpec};
use cwndlab_tcp::Ecn;

/// A tunnel.
#[derive(Clone, Copy, Debug)]
pub struct Tunnel {
    ingress: TunnelIngress,
    egress: TunnelEgress,
    overhead_bytes: u32,
}

impl Tunnel {
    /// Tunnel of a checked scenario.
    pub fn new(spec: &TunnelSpec) -> Self {
        let &TunnelSpec { ingress, egress, overhead } = spec;
        Self { ingress, egress, overhead_bytes: overhead.0 as u32 }
    }

    /// Size in the tunnel of a packet of so many bytes.
    pub fn size_bytes(self, inner_bytes: u32) -> u32 {
        inner_bytes + self.overhead_bytes
    }

    /// Bits of a packet in the tunnel, with the ECN field of the outer header (RFC 6040 section
    /// 4.1).
    pub fn outer(self, inner: Flags) -> Flags {
        match self.ingress {
            _ if inner.has(Flags::OUTER_CE) => inner.marked(),
            TunnelIngress::Normal => inner,
            TunnelIngress::Compatibility => inner.without_ecn(),
        }
    }

    /// The bits to keep of a packet with these outer ones: the inner ECN field, and whether the
    /// outer one is CE.
    pub fn inner(self, before: Flags, outer: Flags) -> Flags {
        outer.without_ecn().with_ecn(before.ecn()).with(Flags::OUTER_CE, outer.is_ce())
    }

    /// Bits of a packet that leaves the tunnel with this outer ECN field; none if it is dropped.
    pub fn decapsulate(self, inner: Flags, outer: Ecn) -> Option<Flags> {
        let field = match self.egress {
            TunnelEgress::Rfc6040 => forwarded(inner.ecn(), outer)?,
            TunnelEgress::IgnoresOuter => inner.ecn(),
        };
        Some(inner.without(Flags::OUTER_CE).without_ecn().with_ecn(field))
    }
}

/// ECN field of a packet that leaves a tunnel; none if it is dropped (RFC 6040 section 4.2, figure
/// 4).
fn forwarded(inner: Ecn, outer: Ecn) -> Option<Ecn> {
    match (inner, outer) {
        (Ecn::NotEct, Ecn::Ce) => None,
        (Ecn::NotEct, _) => Some(Ecn::NotEct),
        (Ecn::Ce, _) | (_, Ecn::Ce) => Some(Ecn::Ce),
        (Ecn::Ect0, Ecn::Ect1) => Some(Ecn::Ect1),
        (ect, _) => Some(ect),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Ecn::{Ce, Ect0, Ect1, NotEct};

    fn tunnel(json: &str) -> Tunnel {
        Tunnel::new(&serde_json::from_str(json).unwrap())
    }

    fn packet(field: Ecn) -> Flags {
        Flags::of_priority(2).with_ecn(field)
    }

    /// RFC 6040, figure 4: a row for each inner field, columns Not-ECT, ECT(0), ECT(1) and CE.
    #[test]
    fn figure_4_row_by_row() {
        let rows = [
            (NotEct, [Some(NotEct), Some(NotEct), Some(NotEct), None]),
            (Ect0, [Some(Ect0), Some(Ect0), Some(Ect1), Some(Ce)]),
            (Ect1, [Some(Ect1), Some(Ect1), Some(Ect1), Some(Ce)]),
            (Ce, [Some(Ce), Some(Ce), Some(Ce), Some(Ce)]),
        ];
        let (full, simple) = (tunnel("{}"), tunnel(r#"{"egress": "ignores-outer"}"#));
        for (inner, row) in rows {
            for (outer, expected) in [NotEct, Ect0, Ect1, Ce].into_iter().zip(row) {
                let left = full.decapsulate(packet(inner), outer);
                assert_eq!(left, expected.map(packet), "{inner:?} in {outer:?}");
                assert_eq!(simple.decapsulate(packet(inner), outer), Some(packet(inner)));
            }
        }
    }

    /// RFC 6040, section 4.1, figure 3: normal mode copies the field, compatibility mode clears it.
    #[test]
    fn figure_3_row_by_row() {
        let (normal, cleared) = (tunnel("{}"), tunnel(r#"{"ingress": "compatibility"}"#));
        for field in [NotEct, Ect0, Ect1, Ce] {
            assert_eq!(normal.outer(packet(field)).ecn(), field);
            assert_eq!(cleared.outer(packet(field)).ecn(), NotEct);
            // What enters unharmed leaves as it came, and with its other bits.
            for tunnel in [normal, cleared] {
                let outer = tunnel.outer(packet(field));
                let kept = tunnel.inner(packet(field), outer);
                assert_eq!(tunnel.decapsulate(kept, outer.ecn()), Some(packet(field)));
            }
        }
    }

    #[test]
    fn a_mark_in_the_tunnel_keeps_what_the_packet_was() {
        let tunnel = tunnel(r#"{"overhead": "50B"}"#);
        let kept = tunnel.inner(packet(Ect1), packet(Ect1).marked());
        assert_eq!((kept.ecn(), tunnel.outer(kept).ecn()), (Ect1, Ce));
        assert_eq!(tunnel.decapsulate(kept, Ce), Some(packet(Ce)));
        // A path that turns CE into ECT(0) takes the mark away, and the inner field stays.
        assert_eq!(tunnel.decapsulate(kept, Ect0), Some(packet(Ect1)));
        assert_eq!(tunnel.size_bytes(1500), 1550);
    }
}
