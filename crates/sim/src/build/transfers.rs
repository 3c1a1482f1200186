//! Builds the transfers of listed flows: responses, frames, objects of web pages, segments of
//! videos.

use super::builder::Builder;
use super::network_plan::FlowGroup;
use crate::endpoint::page_loader::{DrawnPage, PageLaw, PageLoader};
use crate::endpoint::transfer::{ActiveTransfer, FrameSize, NextTransfer, PendingFrames};
use crate::endpoint::video_player::{VideoLaw, VideoPlayer};
use crate::measure::window::MeasurementWindow;
use crate::random::variable::RandomVariable;
use cwndlab_rules::Arithmetic;
use cwndlab_scenario::Page;
use cwndlab_tcp::NEVER;
use std::collections::VecDeque;
use std::sync::Arc;

/// Where a flow stands among the flows with transfers.
#[derive(Clone, Copy)]
pub(super) struct TransferPlace {
    /// Number of its group among the groups with transfers.
    pub group: u32,
    /// Number of its browser, if it is a connection of one.
    pub browser: u32,
    /// Its number in its group.
    pub number: u32,
}

impl Builder<'_> {
    /// The frames that a receiver expects, if flows of the group send any. `transfers`: number of the
    /// group among those with transfers; `own_delay_s`: of the flow's own links.
    pub(super) fn frames(
        &self,
        group: &FlowGroup,
        transfers: u32,
        own_delay_s: f64,
    ) -> Option<PendingFrames> {
        group.spec.frames.as_ref().map(|_| PendingFrames {
            group: transfers,
            base_delay_s: self.plan.forward_delay_s(&group.path) + own_delay_s,
            bottleneck_tx_s: self.plan.bottleneck_tx_s(group),
            pending: VecDeque::new(),
        })
    }

    /// What players of a group of flows may ask for; none without video.
    pub(super) fn video_law(
        &self,
        group: &FlowGroup,
        window: MeasurementWindow,
    ) -> Option<Arc<VideoLaw>> {
        let payload_bytes = self.plan.tcp_config(&group.spec).segment.packet_size;
        group.spec.video.as_ref().map(|video| Arc::new(VideoLaw::new(video, payload_bytes, window)))
    }

    /// The browser of a group of flows.
    pub(super) fn browser(
        &self,
        page: &Page,
        group: &FlowGroup,
        (start_s, stop_s): (f64, f64),
    ) -> PageLoader {
        let name = &group.spec.name;
        let stream = |what| self.plan.stream(what, name);
        let law = match (&page.main, &page.embedded, &page.size) {
            (Some(main), Some(embedded), Some(size)) => PageLaw::Drawn(Box::new(DrawnPage {
                main: RandomVariable::new(main, stream("main")),
                embedded: RandomVariable::new(embedded, stream("embedded")),
                size: RandomVariable::new(size, stream("size")),
                chained: (page.chained, stream("chained")),
                parse: page.parse.as_ref().map(|time| RandomVariable::new(time, stream("parse"))),
            })),
            _ => PageLaw::listed(&page.objects),
        };
        let think = RandomVariable::new(&page.think, stream("think"));
        PageLoader::new(law, think, group.spec.count as usize, start_s, stop_s)
    }

    /// The first transfer of a flow, which starts with the flow, or of a connection of a browser,
    /// which waits for its first object.
    pub(super) fn first_transfer(
        &self,
        group: &FlowGroup,
        name: &str,
        place: TransferPlace,
        video: Option<&Arc<VideoLaw>>,
        (start_s, stop_s): (f64, f64),
        base_rtt_s: f64,
    ) -> ActiveTransfer {
        let sizes = |size| RandomVariable::new(size, self.plan.stream("size", name));
        let (spec, mut first_s) = (&group.spec, start_s);
        let (packets, next) = if let Some(responses) = &spec.responses {
            let mut size = sizes(&responses.size);
            let think = RandomVariable::new(&responses.think, self.plan.stream("think", name));
            (size.next_packets(), NextTransfer::Response { size, think })
        } else if let Some(frames) = &spec.frames {
            let every_s = frames.every.seconds();
            let mut size = match &frames.size {
                Some(size) => FrameSize::Drawn(sizes(size)),
                None => FrameSize::Encoded { left_packets: 0.0 },
            };
            let mut rule = spec.rule.0.build(Arithmetic::Plain);
            let packets = size.next_packets(every_s, rule.encoder_rate_packets_s(0));
            // The first frame opens the connection, so that it has a packet; later ones make up for
            // it.
            if let (FrameSize::Encoded { left_packets }, 0) = (&mut size, packets) {
                *left_packets -= 1.0;
            }
            (packets.max(1), NextTransfer::Frame { size, every_s })
        } else if let Some(law) = video {
            let mut player = VideoPlayer::new(law.clone(), stop_s);
            let packets = if start_s < NEVER { player.request(start_s) } else { 1 };
            (packets, NextTransfer::Segment(Box::new(player)))
        } else {
            first_s = NEVER;
            let TransferPlace { browser, number: connection, .. } = place;
            (0, NextTransfer::Object { browser, connection })
        };
        ActiveTransfer {
            group: place.group,
            start_s: first_s,
            packets,
            base_rtt_s,
            bottleneck_tx_s: self.plan.bottleneck_tx_s(group),
            next: Some(next),
            is_truncated: false,
        }
    }
}
