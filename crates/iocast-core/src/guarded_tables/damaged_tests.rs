//! Tables that were damaged or forged: what comes out is rows or an error.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{Int32Builder, ListBuilder};
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::metadata::ParquetMetaDataReader;
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::schema::types::ColumnPath;

use super::*;

const ROWS: usize = 40;

/// Numbers, texts of a dictionary and lists: what iocast's tables are made of.
fn rows() -> RecordBatch {
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values((0..ROWS as i64).map(|n| n * n)));
    let texts: ArrayRef =
        Arc::new(StringArray::from_iter_values((0..ROWS).map(|n| ["read", "write"][n % 2])));
    let mut lists = ListBuilder::new(Int32Builder::new());
    for row in 0..ROWS as i32 {
        lists.append_value((0..row % 5).map(Some));
    }
    let lists: ArrayRef = Arc::new(lists.finish());
    RecordBatch::try_from_iter([("numbers", numbers), ("texts", texts), ("lists", lists)]).unwrap()
}

fn table(packed: Compression, version: WriterVersion) -> Vec<u8> {
    let delta = ColumnPath::from("numbers");
    let properties = WriterProperties::builder()
        .set_compression(packed)
        .set_writer_version(version)
        .set_column_dictionary_enabled(delta.clone(), false)
        .set_column_encoding(delta, Encoding::DELTA_BINARY_PACKED)
        .build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, rows().schema(), Some(properties)).unwrap();
    writer.write(&rows()).unwrap();
    writer.close().unwrap();
    bytes
}

fn zstd() -> Compression {
    Compression::ZSTD(ZstdLevel::default())
}

/// How many rows come of a file, or why none.
fn read(path: &Path) -> std::result::Result<usize, String> {
    let tables = Tables::open(&[(Some(7), path.to_path_buf())], None).map_err(|error| reason(&error))?;
    let claimed = tables.rows();
    let mut found = 0;
    for batch in Batches::new(Arc::new(tables)) {
        found += batch.map_err(|error| error.to_string())?.num_rows();
    }
    assert!(found as u64 <= claimed, "{found} rows of {claimed}");
    Ok(found)
}

fn tried(bytes: &[u8]) -> std::result::Result<usize, String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("000.parquet");
    fs::write(&file, bytes).unwrap();
    read(&file)
}

#[test]
fn whole_tables_are_read_whatever_they_are_packed_with() {
    for packed in [Compression::UNCOMPRESSED, zstd()] {
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            let bytes = table(packed, version);
            let text_is_delta = version == WriterVersion::PARQUET_2_0;
            assert!(tried(&bytes) == Ok(ROWS) || text_is_delta, "{:?}", tried(&bytes));
        }
    }
}

#[test]
fn columns_are_chosen_and_numbered() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("3.parquet");
    fs::write(&file, table(zstd(), WriterVersion::PARQUET_1_0)).unwrap();
    let asked = ["lists".to_string(), "numbers".to_string()];
    let files = [(Some(3), file.clone()), (Some(4), file.clone())];
    let tables = Arc::new(Tables::open(&files, Some(&asked)).unwrap());
    let names: Vec<_> = tables.schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(names, ["phase", "numbers", "lists"]);
    let again: Vec<_> = (0..2)
        .map(|_| Batches::new(tables.clone()).map(|batch| batch.unwrap().num_rows()).sum::<usize>())
        .collect();
    assert_eq!(again, [2 * ROWS, 2 * ROWS]);
    let absent = Tables::open(&files, Some(&["nothing".to_string()]));
    assert_eq!(reason(&absent.err().unwrap()), "it has no column `nothing`");
}

/// One byte in so many of a table is made another, in two ways.
fn with_other_bytes(step: usize) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("000.parquet");
    for (packed, odd) in [(Compression::UNCOMPRESSED, 0xff), (zstd(), 0x7f)] {
        let good = table(packed, WriterVersion::PARQUET_1_0);
        for at in (0..good.len()).step_by(step) {
            for other in [odd, good[at].wrapping_add(1)] {
                let mut bytes = good.clone();
                bytes[at] = other;
                fs::write(&file, &bytes).unwrap();
                let _ = read(&file);
            }
        }
    }
}

#[test]
fn a_byte_may_be_another() {
    with_other_bytes(13);
}

#[test]
#[ignore = "long: `make test-rust` runs it"]
fn any_byte_may_be_another() {
    with_other_bytes(1);
}

#[test]
fn any_length_is_refused() {
    let good = table(zstd(), WriterVersion::PARQUET_1_0);
    for length in 0..good.len() {
        assert!(tried(&good[..length]).is_err(), "{length}");
    }
}

/// Zigzag and variable length, as Thrift has it.
fn number(value: i64, out: &mut Vec<u8>) {
    let mut left = ((value << 1) ^ (value >> 63)) as u64;
    while left > 127 {
        out.push(left as u8 | 128);
        left >>= 7;
    }
    out.push(left as u8);
}

/// A header of a data page: unpacked and packed size, values, and the number of its encoding.
fn header(unpacked: i64, packed: i64, values: i64, encoding: i64) -> Vec<u8> {
    let mut out = vec![0x15];
    number(0, &mut out);
    for size in [unpacked, packed] {
        out.push(0x15);
        number(size, &mut out);
    }
    out.push(0x2c);
    for field in [values, encoding, 3, 3] {
        out.push(0x15);
        number(field, &mut out);
    }
    out.extend([0, 0]);
    out
}

/// Why a table is refused whose numbers have a page of this header and these bytes; the column keeps its length.
fn forged(packed: Compression, header: &[u8], data: &[u8]) -> String {
    let mut bytes = table(packed, WriterVersion::PARQUET_1_0);
    let footer = {
        let size = u32::from_le_bytes(bytes[bytes.len() - 8..bytes.len() - 4].try_into().unwrap()) as usize;
        ParquetMetaDataReader::decode_metadata(&bytes[bytes.len() - 8 - size..bytes.len() - 8]).unwrap()
    };
    let (start, length) = footer.row_group(0).column(0).byte_range();
    let page: Vec<u8> = header.iter().chain(data).copied().take(length as usize).collect();
    bytes[start as usize..start as usize + page.len()].copy_from_slice(&page);
    tried(&bytes).unwrap_err()
}

#[test]
fn what_a_page_claims_is_looked_at_first() {
    let plain = |unpacked, packed, values| {
        forged(Compression::UNCOMPRESSED, &header(unpacked, packed, values, 0), &[])
    };
    assert!(plain(i64::from(i32::MAX), 8, 40).contains("a page claims 2147483647 bytes"));
    assert!(plain(-1, 8, 40).contains("a page claims -1 bytes"));
    assert!(plain(8, -8, 40).contains("a page claims -8 bytes"));
    assert!(plain(8, 1 << 20, 40).contains("a page is longer than its column"));
    assert!(plain(8, 8, i64::from(i32::MAX)).contains("a page claims 2147483647 values"));
    assert!(!plain(8, 8, -1).is_empty());
    let other = forged(Compression::UNCOMPRESSED, &header(8, 8, 40, 7), &[]);
    assert!(other.contains("a page is encoded as DELTA_BYTE_ARRAY"), "{other}");
    let index = forged(
        Compression::UNCOMPRESSED,
        &header(8, 8, 40, 8),
        &[32, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
    );
    assert!(!index.is_empty(), "an index into a dictionary that is not there");
    let zstd = forged(zstd(), &header(320, 8, 40, 0), &[0x28, 0xb5, 0x2f, 0xfd, 0xff, 0xff, 0xff, 0xff]);
    assert!(!zstd.is_empty());
}

/// 100 MB of zeros in some kB: more than a page may unpack to is refused by what it claims, less ends where it claims.
#[test]
fn a_page_unpacks_to_no_more_than_it_claims() {
    let zeros = zstd::encode_all(&vec![0_u8; 100 << 20][..], 1).unwrap();
    let claimed = [320, 100 << 20].map(|unpacked| {
        let packed = zeros.len().min(200) as i64;
        forged(zstd(), &header(unpacked, packed, 40, 0), &zeros[..packed as usize])
    });
    assert!(claimed.iter().all(|why| !why.is_empty()));
}

#[test]
fn a_footer_that_points_elsewhere_is_refused() {
    let good = table(Compression::UNCOMPRESSED, WriterVersion::PARQUET_1_0);
    let mut claims_all = good.clone();
    let end = claims_all.len();
    claims_all[end - 8..end - 4].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(tried(&claims_all).unwrap_err().contains("its footer claims 4294967295 bytes"));
    let folder = tempfile::tempdir().unwrap();
    assert!(read(folder.path()).unwrap_err().contains("it is not a regular file"));
}
