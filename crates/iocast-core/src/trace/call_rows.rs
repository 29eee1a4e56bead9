//! The calls and waits of a database session as Arrow columns: what its response time is made of.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::builder::{Int32Builder, Int64Builder, UInt8Builder, UInt32Builder};
use arrow_array::types::UInt32Type;
use arrow_array::{ArrayRef, DictionaryArray, RecordBatch, StringArray, UInt32Array};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};

use crate::trace::line_verdict::Broken;
use crate::trace::names::Names;

/// Statements whose text is kept, and how much of each.
const STATEMENTS_KEPT: usize = 20_000;
const STATEMENT_BYTES: usize = 4_000;

/// What a row is. The numbers are those of the column `kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum CallKind {
    /// A statement is understood.
    Parse = 0,
    /// It runs.
    Exec = 1,
    /// Its rows are handed over.
    Fetch = 2,
    /// Its cursor is closed.
    Close = 3,
    /// A wait that is no I/O.
    OtherWait = 4,
    /// A wait that is an I/O: the event of this source and line.
    IoWait = 5,
    /// A call for a LOB: it has no cursor and no depth.
    Lob = 6,
}

/// The names of [`CallKind`] in the order of their numbers.
pub const CALL_KINDS: [&str; 7] = ["parse", "exec", "fetch", "close", "wait", "io_wait", "lob"];

/// One call or wait. None is unknown, or has no meaning for its kind.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// What it is.
    pub kind: CallKind,
    /// The number of the cursor.
    pub cursor: Option<i64>,
    /// Number of the statement.
    pub sql: Option<u32>,
    /// Depth of recursion: 0 is what the user asked for.
    pub dep: Option<i32>,
    /// When it began.
    pub start_ns: Option<i64>,
    /// How long it took.
    pub elapsed_ns: Option<i64>,
    /// CPU time of it.
    pub cpu_ns: Option<i64>,
    /// Number of the wait's name.
    pub event: Option<u32>,
    /// Rows handed over or changed.
    pub rows: Option<i64>,
    /// The number of a data file.
    pub target: Option<i64>,
    /// Blocks read, got consistent, got current; library cache misses; plan.
    pub work: [Option<i64>; 5],
    /// Number of the session.
    pub session: Option<u32>,
    /// Line of the file.
    pub src_line: u64,
}

impl Call {
    /// A call of which nothing but this is known.
    pub fn new(kind: CallKind, src_line: u64) -> Call {
        Call {
            kind,
            cursor: None,
            sql: None,
            dep: None,
            start_ns: None,
            elapsed_ns: None,
            cpu_ns: None,
            event: None,
            rows: None,
            target: None,
            work: [None; 5],
            session: None,
            src_line,
        }
    }
}

const WORK: [&str; 5] = ["blocks_read", "consistent_gets", "current_gets", "misses", "plan"];

/// The columns of the table of calls, in order.
pub fn call_schema() -> SchemaRef {
    let text = || DataType::Dictionary(Box::new(DataType::UInt32), Box::new(DataType::Utf8));
    let column = |name: &str, kind: DataType, nullable| Field::new(name, kind, nullable);
    let mut columns = vec![
        column("kind", DataType::UInt8, false),
        column("cursor", DataType::Int64, true),
        column("sql", text(), true),
        column("dep", DataType::Int32, true),
        column("start_ns", DataType::Int64, true),
        column("elapsed_ns", DataType::Int64, true),
        column("cpu_ns", DataType::Int64, true),
        column("event", text(), true),
        column("rows", DataType::Int64, true),
        column("target", DataType::Int64, true),
    ];
    columns.extend(WORK.iter().map(|name| column(name, DataType::Int64, true)));
    columns.push(column("session", text(), true));
    columns.push(column("source", DataType::UInt32, false));
    columns.push(column("src_line", DataType::UInt32, true));
    Arc::new(Schema::new(columns))
}

/// Calls on their way into a table.
#[derive(Debug, Default)]
pub struct CallRows {
    /// Identifiers of statements: the sqlid, or `hv=` and the hash of older releases.
    pub sqls: Names,
    /// Names of wait events.
    pub events: Names,
    /// `sid.serial`.
    pub sessions: Names,
    /// Text of statements, by identifier.
    pub texts: BTreeMap<String, String>,
    /// Calls so far.
    pub calls: u64,
    held: usize,
    kind: UInt8Builder,
    dep: Int32Builder,
    /// cursor, start, elapsed, cpu, rows, target.
    numbers: [Int64Builder; 6],
    work: [Int64Builder; 5],
    /// sql, event, session.
    names: [UInt32Builder; 3],
    origin: [UInt32Builder; 2],
}

impl CallRows {
    /// One more row, of the file `source`.
    pub fn push(&mut self, call: &Call, source: u32) {
        self.kind.append_value(call.kind as u8);
        self.dep.append_option(call.dep);
        let numbers = [call.cursor, call.start_ns, call.elapsed_ns, call.cpu_ns, call.rows, call.target];
        self.numbers.iter_mut().zip(numbers).for_each(|(column, value)| column.append_option(value));
        self.work.iter_mut().zip(call.work).for_each(|(column, value)| column.append_option(value));
        let names = [call.sql, call.event, call.session];
        self.names.iter_mut().zip(names).for_each(|(column, value)| column.append_option(value));
        self.origin[0].append_value(source);
        self.origin[1].append_option(u32::try_from(call.src_line).ok());
        self.held += 1;
        self.calls += 1;
    }

    /// The text of a statement, cut where it is long.
    pub fn text(&mut self, sql: u32, text: &[u8]) {
        if self.texts.len() < STATEMENTS_KEPT
            && let Some(name) = self.sqls.all().get(sql as usize)
            && !self.texts.contains_key(name)
        {
            let kept = String::from_utf8_lossy(&text[..text.len().min(STATEMENT_BYTES)]);
            self.texts.insert(name.clone(), kept.into_owned());
        }
    }

    /// The number of a wait's name.
    pub fn event(&mut self, name: &[u8]) -> Result<u32, Broken> {
        self.events.number(name)
    }

    /// Rows that were not taken yet.
    pub fn held(&self) -> usize {
        self.held
    }

    /// What was collected, taken out.
    pub fn take(&mut self) -> Result<RecordBatch, ArrowError> {
        self.held = 0;
        let words = |keys: UInt32Array, names: &Names| -> Result<ArrayRef, ArrowError> {
            let values = Arc::new(StringArray::from_iter_values(names.all()));
            Ok(Arc::new(DictionaryArray::<UInt32Type>::try_new(keys, values)?))
        };
        let sql = words(self.names[0].finish(), &self.sqls)?;
        let event = words(self.names[1].finish(), &self.events)?;
        let session = words(self.names[2].finish(), &self.sessions)?;
        let [cursor, start, elapsed, cpu, rows, target] = &mut self.numbers;
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(self.kind.finish()),
            Arc::new(cursor.finish()),
            sql,
            Arc::new(self.dep.finish()),
            Arc::new(start.finish()),
            Arc::new(elapsed.finish()),
            Arc::new(cpu.finish()),
            event,
            Arc::new(rows.finish()),
            Arc::new(target.finish()),
        ];
        columns.extend(self.work.iter_mut().map(|column| Arc::new(column.finish()) as ArrayRef));
        columns.push(session);
        columns.extend(self.origin.iter_mut().map(|column| Arc::new(column.finish()) as ArrayRef));
        RecordBatch::try_new(call_schema(), columns)
    }
}
