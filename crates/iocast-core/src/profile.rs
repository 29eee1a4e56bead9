//! What a table of events is like: everything about it that depends on the order of its rows, in one pass.
//!
//! [`event_rows`] reads the table that [`crate::trace`] writes. Each row goes to: [`arrivals`] (rates over windows,
//! dispersion over scales, gaps), [`in_flight`] (concurrency, who waits for whom), [`sequential_streams`] (sequential runs among
//! interleaved requests), [`block_references`] (blocks come again: [`stack_distance`], [`miss_curve`], [`sampled_references`],
//! [`reuse_times`]), [`latencies`], [`heat_maps`] and [`sync_pattern`]. [`characterise`] puts it all together.
//!
//! Rows must be in the order of their times of issue; one that is earlier than the row before it ends the pass.

pub mod arrivals;
pub mod block_references;
pub mod characterise;
pub mod event_rows;
pub mod heat_maps;
pub mod in_flight;
pub mod latencies;
pub mod miss_curve;
pub mod reuse_times;
pub mod sampled_references;
pub mod sequential_streams;
pub mod stack_distance;
pub mod sync_pattern;
pub mod windows;
