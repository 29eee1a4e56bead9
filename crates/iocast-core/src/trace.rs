//! Traces of other tools become one table of events: read strictly, in bounded memory, and accounted for.
//!
//! A file is [`input`]: plain or compressed, and cut into [`pieces`] between lines. A [`reader`] knows one format; [`format_list`] has all. It
//! turns lines or records into an [`event`] each, which [`columns`] collects; [`call_rows`] has the calls of databases.
//! [`trace_units`] are read [`side_by_side`], large ones as a [`split_file`] by several threads, and each thread makes row groups of a [`table_file`] (Parquet), which
//! [`event_table`] reads back. The
//! [`report`] says of every line whether it was accepted, ignored by a rule or rejected; the three add up to the
//! lines that were read. [`read_traces`] puts it all together.
//!
//! What a trace does not say is NULL, never 0. A time is the time of *issue*.

pub mod call_rows;
pub mod columns;
pub mod event;
pub mod event_table;
pub mod field_map;
pub mod fields;
pub mod format_list;
pub mod input;
pub mod line_verdict;
pub mod little;
pub mod names;
pub mod pieces;
pub mod read_traces;
pub mod reader;
pub mod readers;
pub mod report;
pub mod side_by_side;
pub mod split_file;
pub mod table_file;
pub mod trace_units;
