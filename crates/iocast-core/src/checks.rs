//! What a plan must be for a phase to be run; the refusal names the field.

use crate::error::{Error, Result};
use crate::plan::{Arrival, EngineName, Layout, Locality, PhasePlan};
use crate::polling;

fn refuse(ok: bool, why: &str) -> Result<()> {
    if ok { Ok(()) } else { Err(Error::Plan(why.to_string())) }
}

impl PhasePlan {
    /// Refuses what cannot be run, naming the field.
    pub fn check(&self) -> Result<()> {
        refuse(self.users >= 1 && self.depth >= 1, "users and depth: at least 1")?;
        refuse(self.users <= 4096 && self.depth <= 16384, "users: at most 4096; depth: at most 16384")?;
        refuse(self.interval_ns >= 1_000_000, "interval_ns: at least 1 ms")?;
        refuse(!self.fsync_op.has_place(), "fsync_op: fsync or fdatasync")?;
        self.check_mix()?;
        self.check_arrival()?;
        self.check_length()?;
        self.check_files()?;
        self.check_locality()?;
        if let Some(verify) = &self.verify {
            verify.check(self)?;
        }
        refuse(polling::refused(self).is_none(), polling::refused(self).unwrap_or_default())?;
        self.check_simulated()
    }

    fn check_mix(&self) -> Result<()> {
        refuse(!self.mix.is_empty(), "mix: at least one operation is needed")?;
        refuse(self.mix.len() <= 64, "mix: at most 64 operations and sizes")?;
        for item in &self.mix {
            refuse(item.weight.is_finite() && item.weight >= 0.0, "mix: weights are 0 or more")?;
            refuse(
                item.op.has_place() == (item.size_bytes > 0),
                "mix: reads, writes and trims have a size, fsync and fdatasync have none",
            )?;
            refuse(item.size_bytes <= 1 << 30, "mix: an I/O is at most 1 GiB")?;
        }
        refuse(self.mix.iter().any(|m| m.weight > 0.0), "mix: at least one weight above 0")
    }

    fn check_arrival(&self) -> Result<()> {
        if let Arrival::Bursts { ios, every_ns } = self.arrival {
            refuse(ios > 0 && every_ns > 0, "bursts: ios and every_ns are above 0")?;
        }
        let rate = self.arrival.rate_per_s().unwrap_or(1.0);
        refuse(rate.is_finite() && rate > 0.0, "arrival: the rate is above 0")
    }

    fn check_length(&self) -> Result<()> {
        let length = &self.length;
        refuse(
            length.seconds.is_some() || length.ios.is_some() || length.bytes.is_some() || length.follows,
            "length: seconds, ios or bytes is needed",
        )?;
        refuse(length.seconds.is_none_or(|s| s.is_finite() && s > 0.0), "length: seconds is above 0")
    }

    fn check_files(&self) -> Result<()> {
        refuse(!self.files.is_empty(), "files: at least one is needed")?;
        let mut room = self.largest_bytes();
        if let Layout::Striped { stripe_bytes } = self.layout {
            let whole = |size: u64| size == 0 || (stripe_bytes >= size && stripe_bytes % size == 0);
            refuse(
                stripe_bytes > 0 && self.mix.iter().all(|item| whole(item.size_bytes)),
                "layout: stripe_bytes is a multiple of every I/O's size, as no I/O is on two files",
            )?;
            room = stripe_bytes;
        }
        for file in &self.files {
            refuse(
                file.size_bytes >= room,
                &format!("files: {} has less room than one I/O or stripe of {room} bytes", file.path),
            )?;
        }
        Ok(())
    }

    fn check_locality(&self) -> Result<()> {
        match &self.locality {
            Locality::Zipf { theta } => {
                refuse(*theta > 0.0 && *theta < 20.0, "zipf: theta is between 0 and 20")
            }
            Locality::Hotspot { space_percent, access_percent } => refuse(
                *space_percent > 0.0 && *space_percent < 100.0 && (0.0..=100.0).contains(access_percent),
                "hotspot: space_percent is between 0 and 100, access_percent from 0 to 100",
            ),
            Locality::Stride { stride_bytes } => refuse(*stride_bytes > 0, "stride: stride_bytes is above 0"),
            _ => Ok(()),
        }
    }

    fn check_simulated(&self) -> Result<()> {
        if self.engine != EngineName::Sim {
            return Ok(());
        }
        let device = self
            .simulated
            .as_ref()
            .ok_or_else(|| Error::Plan("simulated: the sim engine needs a device".into()))?;
        device.fault().map_or(Ok(()), |why| refuse(false, why))
    }
}

/// Refuses phases that cannot run at once.
pub(crate) fn check_together(plans: &[PhasePlan]) -> Result<()> {
    refuse(!plans.is_empty(), "at least one phase is needed")?;
    plans.iter().try_for_each(PhasePlan::check)?;
    refuse(
        plans.iter().any(|plan| !plan.length.follows),
        "length: a phase that follows needs another, at once with it, that does not",
    )?;
    let device = |plan: &PhasePlan| match plan.engine {
        EngineName::Sim => serde_json::to_value(&plan.simulated).ok(),
        _ => None,
    };
    let first = device(&plans[0]);
    refuse(
        plans.iter().all(|plan| device(plan) == first),
        "simulated: phases that run at once share one simulated device, or none has one",
    )
}
