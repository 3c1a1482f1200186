//! Strict priority.

mod support;

use cwndlab_queues::{Limit, PRIORITY_CLASSES, Priority, QueueDisc, QueueItem};
use support::item;

#[test]
fn the_first_class_first_and_in_order() {
    let mut queue = Priority::new(Limit::Packets(2));
    let mut losses = Vec::new();
    for (number, priority) in [3, 1, 0, 1, 1, 0, 9].into_iter().enumerate() {
        queue.enqueue(QueueItem { priority, ..item(0, 1000, 0.0, number) }, &mut |lost| {
            losses.push(lost.packet)
        });
    }
    // Class 1 holds two: its third is dropped. Class 9 is class 3, behind number 0.
    assert_eq!(losses, [4]);
    assert_eq!((queue.packets(), queue.bytes()), (6, 6000));
    assert_eq!(queue.dequeue(0.0, &mut |_| ()).map(|sent| sent.packet), Some(2));
    // What arrives in a better class passes all that waits, and a class with room takes it however
    // full the others are.
    queue.enqueue(QueueItem { priority: 0, ..item(0, 1000, 0.0, 7) }, &mut |lost| {
        losses.push(lost.packet)
    });
    let sent: Vec<usize> =
        std::iter::from_fn(|| queue.dequeue(0.0, &mut |_| ())).map(|sent| sent.packet).collect();
    assert_eq!(sent, [5, 7, 1, 3, 0, 6]);
    assert_eq!(losses.len(), 1);
}

#[test]
fn each_class_has_its_own_bytes() {
    let mut queue = Priority::new(Limit::Bytes(2500));
    let mut lost = 0;
    for priority in 0..PRIORITY_CLASSES as u8 {
        for _ in 0..3 {
            queue.enqueue(QueueItem { priority, ..item(0, 1000, 0.0, 0) }, &mut |_| lost += 1);
        }
    }
    assert_eq!((queue.packets(), lost), (8, 4));
}
