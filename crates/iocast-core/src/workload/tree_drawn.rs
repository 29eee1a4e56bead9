//! What a user does in a tree of files: an operation drawn from the mix, and a file or directory that it can go to.
//!
//! Files are dealt out to the users, so that no two of them change the same name; directories are everybody's. A mix that
//! makes and removes keeps itself in balance: where an operation drawn finds nothing to do, another one of the mix that
//! does is made. When none does the user has ended.

use std::sync::Arc;

use rand::RngExt;
use rand::rngs::SmallRng;

use super::next_io::NextIo;
use super::span::Place;
use crate::plan::tree_plan::{Present, Select};
use crate::plan::{Class, Locality, Op, PhasePlan};
use crate::tree::look::Names;
use crate::tree::number_set::NumberSet;
use crate::tree::shape::{Shape, Spot};
use crate::tree::work::TreeWork;

/// As `ours::KINDS` has them.
const PLAIN: u8 = 0;
const RENAMED: u8 = 1;
const LINKED: u8 = 2;
const SYMLINK: u8 = 3;

/// The files of a user: number i of its own is `first + i × step` of all.
#[derive(Clone, Copy, Debug)]
struct Share {
    first: u64,
    step: u64,
    count: u64,
}

impl Share {
    /// `user`'s of `users` that share `all` numbers, or the numbers of tree `user`, where each has its own.
    fn new(all: u64, each: u64, trees: u64, user: u64, users: u64) -> Share {
        match trees {
            1 => Share { first: user, step: users, count: all / users + u64::from(user < all % users) },
            _ => Share { first: user * each, step: 1, count: each },
        }
    }

    #[inline]
    fn number(&self, own: u64) -> u64 {
        self.first + own * self.step
    }
}

/// Where the reads or writes of a class stand.
#[derive(Clone, Copy, Debug, Default)]
struct Walk {
    own: u64,
    position: u64,
    /// Reads or writes of this file so far.
    made: u64,
    /// Nothing yet, the file is at its end, or it is the next one's turn.
    ended: bool,
}

/// See the module.
pub struct TreeDrawn {
    work: Arc<TreeWork>,
    classes: Vec<Class>,
    edges: Vec<(f64, usize)>,
    share: Share,
    directories: Share,
    /// What of the share is there; `None`: all of it, for good.
    names: Option<Names>,
    /// By class, where its next search begins.
    cursors: Vec<u64>,
    walks: Vec<Walk>,
    /// Of the share: what operations under way go to.
    busy: Vec<u32>,
    random: bool,
    uniform: bool,
    next: Option<NextIo>,
}

impl TreeDrawn {
    /// What `user` draws.
    pub fn new(plan: &PhasePlan, user: u32, work: &Arc<TreeWork>) -> TreeDrawn {
        let (shape, users) = (&work.shape, u64::from(plan.users));
        let user = u64::from(user);
        let share = Share::new(shape.files(), shape.files_each(), shape.trees(), user, users);
        let holders = shape.holders_each() * shape.trees();
        let mut directories = Share::new(holders, shape.holders_each(), shape.trees(), user, users);
        if directories.count == 0 {
            // More users than directories: several have the same one.
            directories = Share { first: user % holders, step: 1, count: 1 };
        }
        let classes = plan.classes();
        let all: f64 = plan.mix.iter().map(|item| item.weight).sum();
        let mut edge = 0.0;
        let edges = plan.mix.iter().filter(|item| item.weight > 0.0).map(|item| {
            edge += item.weight / all;
            let class = classes.iter().position(|c| c.op == item.op && c.size_bytes == item.size_bytes);
            (edge, class.expect("each item has a class"))
        });
        TreeDrawn {
            edges: edges.collect(),
            names: work.names.as_ref().map(|names| names_of(names, share, work.plan.present)),
            cursors: vec![0; classes.len()],
            walks: vec![Walk { ended: true, ..Walk::default() }; classes.len()],
            classes,
            share,
            directories,
            busy: Vec::new(),
            random: work.plan.select == Select::Random,
            uniform: matches!(plan.locality, Locality::Uniform { .. }),
            next: None,
            work: Arc::clone(work),
        }
    }

    /// True when there is something to do now; it is drawn then.
    #[inline]
    pub fn draws(&mut self, rng: &mut SmallRng) -> bool {
        if self.next.is_none() {
            self.next = self.draw(rng);
        }
        self.next.is_some()
    }

    /// True while operations under way may leave something to do.
    pub fn waits(&self) -> bool {
        !self.busy.is_empty()
    }

    /// Takes what was drawn.
    #[inline]
    pub fn take(&mut self, rng: &mut SmallRng) -> NextIo {
        self.draws(rng);
        self.next.take().expect("asked for only when there is something to do")
    }

    /// An operation has ended, and with which error.
    pub fn ended(&mut self, op: Op, row: u32, offset: u64, errno: Option<i32>) {
        if self.names.is_none() {
            return;
        }
        if let Some(at) = self.busy.iter().position(|busy| *busy == row) {
            self.busy.swap_remove(at);
        }
        // What was to be made and is there has been made, what was to be removed and is not has been removed.
        let done = matches!(
            (op, errno),
            (Op::Unlink | Op::Rmdir, Some(libc::ENOENT)) | (_, None | Some(libc::EEXIST))
        );
        if !done && op.changes_names() {
            let kind = self.work.shape.spot(offset).kind;
            self.change(op, u64::from(row), kind, true);
        }
    }

    fn draw(&mut self, rng: &mut SmallRng) -> Option<NextIo> {
        let first = match &self.edges[..] {
            [only] => return self.io(only.1, rng),
            edges => {
                let u = rng.random::<f64>();
                edges.partition_point(|(edge, _)| *edge <= u).min(edges.len() - 1)
            }
        };
        let count = self.edges.len();
        (0..count).find_map(|more| self.io(self.edges[(first + more) % count].1, rng))
    }

    fn io(&mut self, class: usize, rng: &mut SmallRng) -> Option<NextIo> {
        let Class { op, size_bytes } = self.classes[class];
        if op.of_directories() {
            let chosen = self.directory(class, rng);
            let number = self.work.shape.holder(chosen);
            return Some(self.next_io(class, op, 0, 0, Spot { number, kind: PLAIN, position: 0 }));
        }
        if op.moves_data() {
            return self.step(class, op, size_bytes, rng);
        }
        let (own, kind) = self.target(class, op, rng)?;
        self.cursors[class] = own + 1;
        if self.names.is_some() {
            self.busy.push(own as u32);
            self.change(op, own, kind, false);
        }
        let number = self.number(own, rng);
        Some(self.next_io(class, op, own, 0, Spot { number, kind, position: 0 }))
    }

    fn next_io(&self, class: usize, op: Op, own: u64, size: u64, spot: Spot) -> NextIo {
        let place = Place { file: 0, offset: self.work.shape.place(spot) };
        NextIo { class, op, row: own as u32, size, place }
    }

    /// Where nothing changes, a random choice goes to the files of everybody.
    #[inline]
    fn number(&self, own: u64, rng: &mut SmallRng) -> u64 {
        let shape: &Shape = &self.work.shape;
        if self.names.is_none() && self.random && shape.trees() == 1 {
            return rng.random_range(0..shape.files());
        }
        self.share.number(own)
    }

    fn directory(&mut self, class: usize, rng: &mut SmallRng) -> u64 {
        if self.random {
            return self.directories.number(rng.random_range(0..self.directories.count));
        }
        let own = self.cursors[class] % self.directories.count;
        self.cursors[class] = own + 1;
        self.directories.number(own)
    }

    /// A file of the share to which an operation can go, and under which of its names.
    fn target(&self, class: usize, op: Op, rng: &mut SmallRng) -> Option<(u64, u8)> {
        let from = match (self.share.count, self.random) {
            (0, _) => return None,
            (count, true) => rng.random_range(0..count),
            (count, false) => self.cursors[class] % count,
        };
        let Some(names) = &self.names else { return Some((from, PLAIN)) };
        let find = |set: &NumberSet, present: bool, suits: &dyn Fn(u64) -> bool| {
            self.find(set, present, from, suits)
        };
        let any = |_: u64| true;
        let file = |own: u64| (own, if names.renamed.has(own) { RENAMED } else { PLAIN });
        match op {
            Op::Create => find(&names.files, false, &any).map(|own| (own, PLAIN)),
            Op::Mkdir => find(&names.beside, false, &any).map(|own| (own, PLAIN)),
            Op::Rmdir => find(&names.beside, true, &any).map(|own| (own, PLAIN)),
            Op::Symlink => find(&names.symlinks, false, &any).map(|own| (own, SYMLINK)),
            Op::Link if names.linked.count() >= names.files.count() => None,
            Op::Link => find(&names.files, true, &|own| !names.linked.has(own)).map(file),
            Op::Unlink => find(&names.linked, true, &any)
                .map(|own| (own, LINKED))
                .or_else(|| find(&names.symlinks, true, &any).map(|own| (own, SYMLINK)))
                .or_else(|| find(&names.files, true, &any).map(file)),
            _ => find(&names.files, true, &any).map(file),
        }
    }

    /// The next number in a set, or out of it, that suits and that nothing under way goes to.
    fn find(&self, set: &NumberSet, present: bool, from: u64, suits: &dyn Fn(u64) -> bool) -> Option<u64> {
        let mut at = from;
        let there = if present { set.count() } else { set.size() - set.count() };
        for _ in 0..there {
            let own = set.next(at, present)?;
            if suits(own) && !self.busy.contains(&(own as u32)) {
                return Some(own);
            }
            at = own + 1;
        }
        None
    }

    /// What an operation makes of the names; `undo`: what it did not, after all.
    fn change(&mut self, op: Op, own: u64, kind: u8, undo: bool) {
        let Some(names) = &mut self.names else { return };
        match op {
            Op::Create => {
                names.files.set(own, !undo);
                names.renamed.set(own, false);
            }
            Op::Mkdir => names.beside.set(own, !undo),
            Op::Rmdir => names.beside.set(own, undo),
            Op::Symlink => names.symlinks.set(own, !undo),
            Op::Link => names.linked.set(own, !undo),
            Op::Rename => names.renamed.set(own, (kind == PLAIN) != undo),
            Op::Unlink if kind == LINKED => names.linked.set(own, undo),
            Op::Unlink if kind == SYMLINK => names.symlinks.set(own, undo),
            Op::Unlink => {
                names.files.set(own, undo);
                names.renamed.set(own, undo && kind == RENAMED);
            }
            _ => {}
        }
    }

    /// The next read or write: through a file and on to the next, or anywhere in any.
    fn step(&mut self, class: usize, op: Op, size: u64, rng: &mut SmallRng) -> Option<NextIo> {
        let gone = |walk: &Walk| self.names.as_ref().is_some_and(|names| !names.files.has(walk.own));
        let walk = self.walks[class];
        if walk.ended || gone(&walk) {
            // A file without a byte is passed over, a share of them has nothing to read.
            let mut tries = self.share.count;
            loop {
                let (own, _) = self.target(class, op, rng)?;
                self.cursors[class] = own + 1;
                self.walks[class] = Walk { own, ..Walk::default() };
                if self.work.shape.size_bytes(self.share.number(own)) > 0 {
                    break;
                }
                tries = tries.checked_sub(1)?;
            }
        }
        let Walk { own, position, made, .. } = self.walks[class];
        let number = self.share.number(own);
        let whole = self.work.shape.size_bytes(number);
        let position = match self.uniform {
            true => rng.random_range(0..whole.div_ceil(size)) * size,
            false => position,
        };
        let length = size.min(whole - position);
        let turn = match (self.work.plan.stop_after, self.uniform) {
            (Some(most), _) => made + 1 >= most,
            (None, uniform) => uniform,
        };
        let ended = turn || (!self.uniform && position + length >= whole);
        self.walks[class] = Walk { own, position: position + length, made: made + 1, ended };
        let renamed = self.names.as_ref().is_some_and(|names| names.renamed.has(own));
        if self.names.is_some() {
            self.busy.push(own as u32);
        }
        Some(self.next_io(class, op, own, length, Spot { number, kind: u8::from(renamed), position }))
    }
}

/// The names of a share.
fn names_of(all: &Names, share: Share, present: Present) -> Names {
    let mut own = Names::new(share.count, present == Present::All);
    if present == Present::Look {
        let pairs = [
            (&all.files, &mut own.files),
            (&all.renamed, &mut own.renamed),
            (&all.linked, &mut own.linked),
            (&all.symlinks, &mut own.symlinks),
            (&all.beside, &mut own.beside),
        ];
        for (from, to) in pairs {
            if from.count() > 0 {
                (0..share.count).filter(|at| from.has(share.number(*at))).for_each(|at| to.set(at, true));
            }
        }
    }
    own
}
