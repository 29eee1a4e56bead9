//! Requests put together from their steps: plain ones, and all that can happen to one on its way.

use super::*;

const DEVICE: u32 = 254 << 20;

fn step(step: Step, at_ns: u64, sector: u64, sectors: u32) -> Event {
    Event { at_ns, step, device: DEVICE, sector, sectors, op: BlkOp::Read, failed: false }
}

fn after(events: &[Event]) -> TimedRequests {
    let mut pairing = TimedRequests::new(Wanted::default());
    events.iter().for_each(|event| pairing.take(event));
    pairing
}

/// (requests, sum of queue times, how many queued, sum of device times, unpaired completions)
fn figures(mut pairing: TimedRequests) -> (u64, u64, u64, u64, u64) {
    let (devices, apart) = pairing.drain();
    let classes: Vec<_> = devices.iter().flat_map(|device| &device.classes).collect();
    let sum = |pick: &dyn Fn(&super::super::device_times::ClassTimes) -> u64| {
        classes.iter().map(|class| pick(class)).sum()
    };
    (
        sum(&|c| c.ios),
        sum(&|c| c.queue.sum_ns),
        sum(&|c| c.queue.total()),
        sum(&|c| c.device.sum_ns),
        apart.unpaired,
    )
}

#[test]
fn queue_and_device_are_told_apart() {
    let events = [step(Step::Insert, 10, 8, 8), step(Step::Issue, 25, 8, 8), step(Step::Complete, 125, 8, 8)];
    assert_eq!(figures(after(&events)), (1, 15, 1, 100, 0));
}

#[test]
fn what_goes_straight_to_the_driver_has_no_queue_time() {
    assert_eq!(
        figures(after(&[step(Step::Issue, 25, 8, 8), step(Step::Complete, 125, 8, 8)])),
        (1, 0, 0, 100, 0)
    );
}

#[test]
fn what_began_before_is_counted_apart() {
    assert_eq!(figures(after(&[step(Step::Complete, 125, 8, 8)])), (0, 0, 0, 0, 1));
}

#[test]
fn of_two_at_the_same_place_the_one_that_is_as_long_has_ended() {
    let events = [
        step(Step::Issue, 10, 8, 8),
        step(Step::Issue, 20, 8, 16),
        step(Step::Complete, 110, 8, 16), // it overtakes the first
        step(Step::Complete, 130, 8, 8),
        step(Step::Issue, 200, 16, 8), // nothing is left over of the others
        step(Step::Complete, 210, 16, 8),
    ];
    assert_eq!(figures(after(&events)), (3, 0, 0, 90 + 120 + 10, 0));
}

#[test]
fn two_at_the_same_place_are_first_in_first_out() {
    let events = [
        step(Step::Issue, 10, 8, 8),
        step(Step::Issue, 20, 8, 8),
        step(Step::Complete, 110, 8, 8),
        step(Step::Complete, 130, 8, 8),
    ];
    assert_eq!(figures(after(&events)), (2, 0, 0, 100 + 110, 0));
}

#[test]
fn a_read_and_a_write_at_the_same_place_are_two() {
    let write = |event: Event| Event { op: BlkOp::Write, ..event };
    let events = [
        step(Step::Issue, 10, 8, 8),
        write(step(Step::Issue, 20, 8, 8)),
        write(step(Step::Complete, 50, 8, 8)),
        step(Step::Complete, 110, 8, 8),
    ];
    let (devices, _) = after(&events).drain();
    let times: Vec<_> = devices[0].classes.iter().map(|class| (class.op, class.device.sum_ns)).collect();
    assert_eq!(times, [(BlkOp::Read, 100), (BlkOp::Write, 30)]);
}

#[test]
fn the_times_of_a_request_that_was_put_back_are_queueing() {
    let events = [
        step(Step::Issue, 10, 8, 8),
        step(Step::Requeue, 20, 8, 8),
        step(Step::Issue, 70, 8, 8),
        step(Step::Complete, 100, 8, 8),
    ];
    assert_eq!(figures(after(&events)), (1, 60, 1, 30, 0));
}

#[test]
fn what_was_merged_away_is_nobodys_queue_time() {
    let events = [
        step(Step::Insert, 1, 16, 8),
        step(Step::Merge, 2, 16, 8),
        step(Step::Insert, 1000, 16, 8),
        step(Step::Issue, 1010, 16, 8),
        step(Step::Complete, 1020, 16, 8),
    ];
    assert_eq!(figures(after(&events)), (1, 10, 1, 10, 0));
}

#[test]
fn a_merge_that_was_not_seen_does_no_harm() {
    let events = [
        step(Step::Insert, 1, 16, 8),
        step(Step::Insert, 1000, 16, 8),
        step(Step::Issue, 1010, 16, 8),
        step(Step::Complete, 1020, 16, 8),
    ];
    let pairing = after(&events);
    assert!(pairing.requests.queued() == 0 && pairing.requests.issued() == 0);
    assert_eq!(figures(pairing), (1, 10, 1, 10, 0));
}

#[test]
fn a_request_done_in_parts_is_one() {
    let events =
        [step(Step::Issue, 10, 0, 16), step(Step::Complete, 50, 0, 8), step(Step::Complete, 60, 8, 8)];
    let mut pairing = after(&events);
    let (devices, apart) = pairing.drain();
    let class = &devices[0].classes[0];
    assert_eq!((class.ios, class.bytes, class.device.sum_ns, apart.unpaired), (1, 8192, 50, 0));
}

#[test]
fn a_failed_request_is_counted_as_one() {
    let failed = Event { failed: true, ..step(Step::Complete, 50, 0, 8) };
    let (devices, _) = after(&[step(Step::Issue, 10, 0, 16), failed]).drain();
    assert_eq!((devices[0].classes[0].ios, devices[0].classes[0].failed), (1, 1));
}

#[test]
fn only_what_is_wanted_counts() {
    let wanted = Wanted {
        devices: vec![Device::from_kernel(DEVICE)],
        ops: vec![BlkOp::Read],
        size_bytes: Some(8192),
        slow_ns: None,
    };
    let mut pairing = TimedRequests::new(wanted);
    let other = |event: Event| Event { device: 8 << 20, ..event };
    for sectors in [16, 2048] {
        pairing.take(&step(Step::Issue, 10, 8, sectors));
        pairing.take(&step(Step::Complete, 20, 8, sectors));
    }
    pairing.take(&other(step(Step::Issue, 10, 8, 16)));
    pairing.take(&other(step(Step::Complete, 20, 8, 16)));
    assert_eq!(figures(pairing), (1, 0, 0, 10, 0));
}

#[test]
fn closing_follows_what_is_on_its_way_and_nothing_new() {
    let mut pairing =
        after(&[step(Step::Issue, 10, 8, 8), step(Step::Issue, 11, 80, 8), step(Step::Insert, 12, 24, 8)]);
    pairing.close();
    pairing.take(&step(Step::Issue, 20, 24, 8));
    pairing.take(&step(Step::Issue, 20, 32, 8));
    pairing.take(&step(Step::Complete, 30, 8, 8));
    pairing.take(&step(Step::Complete, 31, 32, 8));
    assert_eq!((pairing.on_their_way(), pairing.done()), (1, 1));
    pairing.reopen();
    let apart = Apart { unpaired: 0, unfinished: 1 };
    assert_eq!((pairing.on_their_way(), pairing.drain().1), (0, apart));
}

#[test]
fn what_is_given_up_lends_its_beginning_to_nobody() {
    let mut pairing = after(&[step(Step::Issue, 10, 8, 8), step(Step::Insert, 12, 16, 8)]);
    pairing.give_up(); // the record of its end was lost
    assert_eq!(pairing.on_their_way(), 0);
    pairing.take(&step(Step::Issue, 1000, 8, 8));
    pairing.take(&step(Step::Complete, 1030, 8, 8));
    pairing.take(&step(Step::Issue, 2000, 16, 8));
    pairing.take(&step(Step::Complete, 2050, 16, 8));
    let (devices, apart) = pairing.drain();
    let class = &devices[0].classes[0];
    assert_eq!((class.ios, class.device.sum_ns, class.queue.total()), (2, 30 + 50, 0));
    assert_eq!(apart, Apart { unpaired: 0, unfinished: 1 });
}

#[test]
fn what_is_on_its_way_is_said_of_its_device() {
    let (devices, _) = TimedRequests::drain(&mut TimedRequests {
        tallies: [(DEVICE, Tally::default())].into(),
        ..after(&[step(Step::Issue, 10, 8, 8), step(Step::Insert, 10, 16, 8)])
    });
    assert_eq!(devices[0].in_flight, 1);
}
