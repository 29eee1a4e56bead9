//! The reader of raw trace pages against what the kernel itself prints of the same records.

use iocast_core::blk::layout::{Layout, PageHead};
use iocast_core::blk::pages::read_page;
use iocast_core::blk::timed_requests::{TimedRequests, Wanted};
use iocast_core::blk::{BlkOp, Device, Event, Step};

const PAGES: &[u8] = include_bytes!("fixtures/blk/reads_and_a_flush.pages");
const TEXT: &str = include_str!("fixtures/blk/reads_and_a_flush.trace");

fn captured() -> Vec<Event> {
    let head = PageHead::parse(include_str!("fixtures/blk/header_page")).unwrap();
    let layouts = [
        (include_str!("fixtures/blk/block_rq_insert.format"), Step::Insert),
        (include_str!("fixtures/blk/block_rq_issue.format"), Step::Issue),
        (include_str!("fixtures/blk/block_rq_complete.format"), Step::Complete),
    ]
    .map(|(text, step)| Layout::parse(text, step).unwrap());
    let mut events = Vec::new();
    for page in PAGES.chunks(head.size) {
        let missed = read_page(page, &head, |at_ns, record| {
            let id = u16::from_le_bytes([record[0], record[1]]);
            let layout = layouts.iter().find(|layout| layout.id == id).unwrap();
            events.push(layout.event(at_ns, record).unwrap());
        });
        assert_eq!(missed, 0);
    }
    events
}

/// (µs, what, device, letters, sector, sectors) of a line of the kernel's.
fn printed(line: &str) -> (u64, Step, Device, BlkOp, u64, u32) {
    let (_, rest) = line.split_once("] ").unwrap();
    let words: Vec<&str> = rest.split_whitespace().collect();
    let (seconds, micros) = words[1].trim_end_matches(':').split_once('.').unwrap();
    let step = match words[2] {
        "block_rq_insert:" => Step::Insert,
        "block_rq_issue:" => Step::Issue,
        _ => Step::Complete,
    };
    let (major, minor) = words[3].split_once(',').unwrap();
    let plus = words.iter().position(|&word| word == "+").unwrap();
    let sector: u64 = words[plus - 1].parse().unwrap();
    (
        seconds.parse::<u64>().unwrap() * 1_000_000 + micros.parse::<u64>().unwrap(),
        step,
        Device { major: major.parse().unwrap(), minor: minor.parse().unwrap() },
        BlkOp::from_letters(words[4].as_bytes()),
        if sector == u64::MAX { 0 } else { sector },
        words[plus + 1].parse().unwrap(),
    )
}

#[test]
fn raw_records_say_what_the_kernel_prints() {
    let raw: Vec<_> = captured()
        .iter()
        .map(|e| ((e.at_ns + 500) / 1000, e.step, Device::from_kernel(e.device), e.op, e.sector, e.sectors))
        .collect();
    let text: Vec<_> = TEXT.lines().map(printed).collect();
    assert_eq!(text.len(), 33);
    assert_eq!(raw, text);
}

#[test]
fn every_request_of_the_capture_is_paired() {
    let mut pairing = TimedRequests::new(Wanted::default());
    captured().iter().for_each(|event| pairing.take(event));
    let (devices, apart) = pairing.drain();
    assert_eq!((devices.len(), devices[0].in_flight, apart), (1, 0, Default::default()));
    let seen: Vec<_> =
        devices[0].classes.iter().map(|c| (c.op, c.size_bytes, c.ios, c.queue.total(), c.bytes)).collect();
    let expected = [
        (BlkOp::Read, 4096, 3, 3, 3 * 4096),
        (BlkOp::Read, 8192, 1, 1, 8192),
        (BlkOp::Read, 1 << 20, 1, 1, 1 << 20),
        (BlkOp::Write, 4096, 3, 3, 3 * 4096),
        (BlkOp::Write, 16384, 1, 1, 12288),
        (BlkOp::Flush, 0, 2, 0, 0),
    ];
    assert_eq!(seen, expected);
    // The read of 1 MiB, by hand from the kernel's text: 7 µs in the queue, 1230 in the device.
    let large = &devices[0].classes[2];
    assert!(large.queue.sum_ns.abs_diff(7_000) < 1_000 && large.device.sum_ns.abs_diff(1_230_000) < 1_000);
}
