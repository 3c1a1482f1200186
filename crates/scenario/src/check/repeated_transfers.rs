//! Checks of flows that carry transfers without end: responses, frames, web pages, video.

use super::conditions::{Checked, at_least, conflict, inside, invalid, positive, unique};
use super::distributions::check_draw;
use crate::{FlowSpec, Frames, Page, PageObject, Responses, Video};
use cwndlab_rules::Arithmetic;
use cwndlab_units::Time;
use std::collections::BTreeSet;

/// Shortest interval between frames, and shortest deadline.
const MIN_FRAME: Time = Time::ns(10_000);
/// Largest number of objects of a page, all of which are kept.
const MAX_OBJECTS: usize = 10_000;
/// Largest size of an object, packets.
const MAX_OBJECT_SIZE: u64 = 1_000_000_000_000;
/// Shortest segment.
const MIN_SEGMENT: Time = Time::ns(1_000_000);

/// Checks what a flow sends, if it is not one piece of data.
pub(super) fn check_repeated_transfers(flow: &FlowSpec, key: &dyn Fn(&str) -> String) -> Checked {
    let mut before = vec!["packets"];
    let mut is_given = flow.packets.is_some();
    for (name, is_next) in flow.repeated() {
        if is_given && is_next {
            let (last, others) = before.split_last().map_or(("", &[][..]), |(l, o)| (*l, o));
            let others: Vec<String> = others.iter().map(|name| format!("`{name}`")).collect();
            let or = if others.is_empty() { "" } else { " or " };
            return conflict(
                key(name),
                format!("`{name}` must not be given when {}{or}`{last}` is", others.join(", ")),
            );
        }
        is_given |= is_next;
        before.push(name);
    }
    let FlowSpec { responses, frames, page, video, .. } = flow;
    responses.as_ref().map_or(Ok(()), |responses| check_responses(responses, key))?;
    frames.as_ref().map_or(Ok(()), |frames| check_frames(frames, flow, key))?;
    page.as_ref().map_or(Ok(()), |page| check_page(page, flow, key))?;
    video.as_ref().map_or(Ok(()), |video| check_video(video, key))
}

fn check_responses(responses: &Responses, key: &dyn Fn(&str) -> String) -> Checked {
    check_draw(&key("responses.size"), &responses.size, 1.0, "at least 1 packet")?;
    check_draw(&key("responses.think"), &responses.think, 0.0, "0 s or more")
}

fn check_frames(frames: &Frames, flow: &FlowSpec, key: &dyn Fn(&str) -> String) -> Checked {
    match &frames.size {
        Some(size) => check_draw(&key("frames.size"), size, 1.0, "at least 1 packet")?,
        None if flow.rule.0.build(Arithmetic::Plain).encoder_rate_packets_s(0).is_some() => {}
        None => {
            return conflict(
                key("frames.size"),
                format!(
                    "`size` must be given for {}: only NADA sets the rate of an encoder",
                    flow.rule.0
                ),
            );
        }
    }
    at_least(key("frames.every"), frames.every, MIN_FRAME)?;
    frames.deadline.map_or(Ok(()), |time| at_least(key("frames.deadline"), time, MIN_FRAME))
}

fn check_page(page: &Page, flow: &FlowSpec, key: &dyn Fn(&str) -> String) -> Checked {
    for (name, is_given) in [("join", flow.join.is_some()), ("leave", flow.leave.is_some())] {
        if is_given {
            return conflict(
                key(name),
                format!("`{name}` must not be given when `page` is: its flows are one browser"),
            );
        }
    }
    let in_page = |name: &str| key(&format!("page.{name}"));
    check_draw(&in_page("think"), &page.think, 0.0, "0 s or more")?;
    let Page { objects, main, embedded, size, chained, parse, .. } = page;
    if !objects.is_empty() {
        let drawn = [
            ("main", main.is_some()),
            ("embedded", embedded.is_some()),
            ("size", size.is_some()),
            ("chained", *chained != 0.0),
            ("parse", parse.is_some()),
        ];
        return match drawn.iter().find(|(_, is_given)| *is_given) {
            Some((name, _)) => conflict(
                in_page(name),
                format!("`{name}` must not be given when `objects` is: the list says it"),
            ),
            None => check_objects(objects, &in_page),
        };
    }
    let (Some(main), Some(embedded), Some(size)) = (main, embedded, size) else {
        return conflict(
            key("page"),
            "either `objects` or `main`, `embedded` and `size` must be given",
        );
    };
    check_draw(&in_page("main"), main, 1.0, "at least 1 packet")?;
    check_draw(&in_page("embedded"), embedded, 0.0, "0 objects or more")?;
    if embedded.mean() > MAX_OBJECTS as f64 {
        return invalid(
            in_page("embedded"),
            format!("a mean of {}", embedded.mean()),
            format!("at most {MAX_OBJECTS} objects"),
        );
    }
    check_draw(&in_page("size"), size, 1.0, "at least 1 packet")?;
    inside(in_page("chained"), *chained, 0.0, 1.0)?;
    parse.as_ref().map_or(Ok(()), |parse| check_draw(&in_page("parse"), parse, 0.0, "0 s or more"))
}

fn check_objects(objects: &[PageObject], in_page: &dyn Fn(&str) -> String) -> Checked {
    if objects.len() > MAX_OBJECTS {
        let found = format!("{} objects", objects.len());
        return invalid(in_page("objects"), found, format!("at most {MAX_OBJECTS}"));
    }
    let mut names = BTreeSet::new();
    for (i, object) in objects.iter().enumerate() {
        let key = |name: &str| in_page(&format!("objects[{i}].{name}"));
        inside(key("size"), object.size, 1, MAX_OBJECT_SIZE)?;
        if let Some(missing) = object.after.iter().find(|name| !names.contains(name.as_str())) {
            return invalid(
                key("after"),
                format!("\"{missing}\""),
                "names of objects before it in the list",
            );
        }
        unique(key("name"), &object.name, &mut names, "object")?;
    }
    Ok(())
}

fn check_video(video: &Video, key: &dyn Fn(&str) -> String) -> Checked {
    let key = |name: &str| key(&format!("video.{name}"));
    let is_ascending = video.bitrates.is_sorted_by(|a, b| a < b);
    if video.bitrates.is_empty() || !is_ascending {
        let bitrates: Vec<String> = video.bitrates.iter().map(ToString::to_string).collect();
        return invalid(
            key("bitrates"),
            format!("[{}]", bitrates.join(", ")),
            "one or more ascending bitrates",
        );
    }
    at_least(key("segment"), video.segment, MIN_SEGMENT)?;
    positive(key("cushion"), video.cushion)?;
    // The player asks for a segment only if it fits, and starts with `startup`.
    let least_s = video.startup().seconds() + video.segment.seconds();
    if video.buffer.seconds() < least_s {
        return invalid(
            key("buffer"),
            video.buffer,
            format!("at least startup and a segment, {least_s}s"),
        );
    }
    Ok(())
}
