use proptest::prelude::*;

use super::*;
use crate::{Done, DoneKind, TokenWriter};

/// Counts packets and their bytes, and keeps the statuses of the last two headers.
#[derive(Default)]
struct Counter {
    packet_count: u64,
    size: u64,
    sizes: [u64; 2],
    statuses: [u8; 2],
}

impl PacketSink for Counter {
    fn send(&mut self, packet: &[u8]) -> io::Result<()> {
        self.packet_count += 1;
        self.size += packet.len() as u64;
        self.sizes = [self.sizes[1], packet.len() as u64];
        self.statuses = [self.statuses[1], packet[1]];
        Ok(())
    }
}

struct Broken;

impl PacketSink for Broken {
    fn send(&mut self, _packet: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::BrokenPipe.into())
    }
}

const STATEMENT: Done = Done {
    kind: DoneKind::Statement,
    status: Done::MORE,
    command: 0,
    row_count: 0,
};

/// Sends `count` DONE tokens.
fn send_done(count: u64, size: PacketSize) -> Counter {
    let packets = PacketWriter::new(Counter::default(), MessageKind::TabularResult, size, 51);
    let mut tokens = TokenWriter::new(packets);
    for _ in 0..count {
        tokens.done(STATEMENT).unwrap();
    }
    tokens.packets_mut().finish().unwrap();
    tokens.into_packets().into_sink()
}

#[test]
fn the_number_of_packets_follows_from_the_tokens() {
    for size in [512, 4096, 8000, 32767] {
        for count in [0, 1, 38, 39, 314, 315, 20_000] {
            let sent = send_done(count, PacketSize::new(size).unwrap());
            let payload = u64::from(size) - 8;
            let packet_count = (count * 13).div_ceil(payload).max(1);
            assert_eq!(sent.packet_count, packet_count, "{count} DONE in packets of {size}");
            assert_eq!(sent.size, count * 13 + packet_count * 8);
            assert_eq!(sent.statuses[1], Header::END);
        }
    }
}

/// The context switches article: 100 million iterations of WHILE and SET.
#[test]
fn two_hundred_million_done_are_636008_packets() {
    let sent = send_done(200_000_000, PacketSize::DEFAULT);
    assert_eq!(sent.packet_count, 636_008);
    assert_eq!(sent.size, 200_000_000 * 13 + 636_008 * 8);
    assert_eq!(sent.statuses, [0, Header::END]);
    assert_eq!(sent.sizes[0], 4096);
}

#[test]
fn a_message_that_fills_its_last_packet_has_no_empty_packet_after_it() {
    let mut packets = PacketWriter::new(Counter::default(), MessageKind::Rpc, PacketSize::MIN, 0);
    packets.write(&[1; 504]).unwrap();
    assert_eq!(packets.packet_count(), 0);
    packets.finish().unwrap();
    assert_eq!(packets.packet_count(), 1);
    assert_eq!(packets.sink().sizes[1], 512);
}

#[test]
fn each_message_counts_its_packets_from_one() {
    let mut packets = PacketWriter::new(Vec::new(), MessageKind::TabularResult, PacketSize::MIN, 0x1234);
    for _ in 0..2 {
        packets.write(&[7; 1000]).unwrap();
        packets.finish().unwrap();
    }
    let sent = packets.into_sink();
    let headers: Vec<_> = [0, 512, 1016, 1528].iter().map(|at| &sent[*at..*at + 8]).collect();
    assert_eq!(headers[0], [4, 0, 2, 0, 0x12, 0x34, 1, 0]);
    assert_eq!(headers[1], [4, 1, 1, 0xF8, 0x12, 0x34, 2, 0]);
    assert_eq!(headers[2], headers[0]);
    assert_eq!(headers[3], headers[1]);
}

#[test]
fn the_packet_counter_wraps_after_255() {
    let sent = send_done(20_000, PacketSize::MIN);
    assert_eq!(sent.packet_count, 516);
    let mut packets = PacketWriter::new(Vec::new(), MessageKind::TabularResult, PacketSize::MIN, 0);
    packets.write(&vec![0; 504 * 257]).unwrap();
    packets.finish().unwrap();
    let ids: Vec<_> = packets.into_sink().chunks(512).map(|packet| packet[6]).collect();
    assert_eq!((ids[0], ids[254], ids[255], ids[256]), (1, 255, 0, 1));
}

#[test]
fn a_flush_sends_buffered_data_and_does_not_end_the_message() {
    let mut packets = PacketWriter::new(Vec::new(), MessageKind::TabularResult, PacketSize::MIN, 0);
    packets.flush().unwrap();
    packets.write(b"ab").unwrap();
    assert!(!packets.is_empty());
    packets.flush().unwrap();
    assert!(packets.is_empty());
    packets.write(b"c").unwrap();
    packets.finish().unwrap();
    assert_eq!(
        packets.into_sink(),
        b"\x04\0\0\x0A\0\0\x01\0ab\x04\x01\0\x09\0\0\x02\0c"
    );
}

#[test]
fn a_new_size_applies_from_the_next_packet_on() {
    let mut packets = PacketWriter::new(Vec::new(), MessageKind::TabularResult, PacketSize::MIN, 0);
    packets.write(&[1; 600]).unwrap();
    packets.set_size(PacketSize::new(1000).unwrap());
    packets.write(&[1; 1000]).unwrap();
    packets.finish().unwrap();
    let sent = packets.into_sink();
    assert_eq!(sent[512..][..4], [4, 0, 0x03, 0xE8]);
    assert_eq!(sent[1512..][..4], [4, 1, 0, 8 + 104]);
}

#[test]
fn a_smaller_size_applies_to_buffered_data() {
    let mut packets = PacketWriter::new(Vec::new(), MessageKind::TabularResult, PacketSize::MAX, 0);
    packets.write(&[1; 2000]).unwrap();
    packets.set_size(PacketSize::MIN);
    packets.write(&[1]).unwrap();
    packets.finish().unwrap();
    let sizes = [512, 512, 512, 8 + 2001 - 3 * 504];
    assert_eq!(packets.packet_count(), 4);
    assert_eq!(packets.into_sink().len(), sizes.iter().sum::<usize>());
}

#[test]
fn a_failing_sink_ends_the_message_and_clears_the_buffer() {
    let mut packets = PacketWriter::new(Broken, MessageKind::TabularResult, PacketSize::MIN, 0);
    let refused = packets.write(&[0; 100_000]).unwrap_err();
    assert!(matches!(&refused, TdsError::Sink(error) if error.kind() == io::ErrorKind::BrokenPipe));
    assert!(std::error::Error::source(&refused).is_some());
    for _ in 0..100 {
        assert!(packets.write(&[0; 1000]).is_err());
    }
    assert!(packets.buffer.capacity() <= 512 + PIECE_SIZE_MAX);
}

/// `one-buffer-per-message`.
#[test]
fn the_buffer_never_grows() {
    let mut packets = PacketWriter::new(Counter::default(), MessageKind::TabularResult, PacketSize::DEFAULT, 0);
    let capacity = packets.buffer.capacity();
    for size in [1, 13, 4087, 4088, 4089, 8191, 8192, 8193, 1_000_000] {
        packets.write(&vec![0; size]).unwrap();
        assert_eq!(packets.buffer.capacity(), capacity, "after {size}");
    }
}

#[test]
fn the_first_packet_of_the_next_message_alone_has_its_status() {
    let mut packets = PacketWriter::new(Vec::new(), MessageKind::SqlBatch, PacketSize::MIN, 0);
    packets.set_first_status(Header::RESET);
    for _ in 0..2 {
        packets.write(&[0; 1000]).unwrap();
        packets.finish().unwrap();
    }
    let sent = packets.into_sink();
    let statuses = [0, 512, 1016, 1528].map(|at| sent[at + 1]);
    assert_eq!(statuses, [Header::RESET, Header::END, 0, Header::END]);
}

proptest! {
    #[test]
    fn a_written_message_is_read_again(
        pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..2000), 0..20),
        size in 512..5000_u16,
    ) {
        let size = PacketSize::new(size).unwrap();
        let mut packets = PacketWriter::new(Vec::new(), MessageKind::TabularResult, size, 0);
        for piece in &pieces {
            packets.write(piece).unwrap();
        }
        packets.finish().unwrap();
        let sent = packets.into_sink();
        let mut rest = sent.as_slice();
        let data = crate::client::split_message(&mut rest).unwrap().unwrap();
        prop_assert_eq!(data, pieces.concat());
        prop_assert!(rest.is_empty());
    }
}
