//! What git holds about baselines: each version that was committed, the commit that it was measured on, the cycle it came with.

use super::Auditor;
use crate::error::Result;
use crate::model::audit::{Baseline, Disagreement, Filed, Kept, Sight, With, Written, of_baseline};
use crate::model::ledger as names;
use crate::model::record::Record;
use crate::model::snapshot::Snapshot;

impl Auditor<'_> {
    /// Holds each baseline that was committed against everything that it names.
    pub(super) fn baselines(
        &mut self,
        filed: &[Filed],
        records: &[(Record, Option<usize>)],
        written: &[Written],
    ) -> Result<Vec<Disagreement>> {
        let mut found = Vec::new();
        let is_meant = |file: &&Filed| file.name == names::BASELINE && !file.is_of_agent;
        for file in filed.iter().filter(is_meant) {
            let Some(place) = self.past.place(&file.commit) else {
                continue;
            };
            let came_with = |recorder: &Option<usize>| {
                recorder.is_some_and(|index| written[index].commit == file.commit)
            };
            let record = records.iter().find(|(_, recorder)| came_with(recorder));
            let what = self.hold_baseline(place, record.map(|(record, _)| record))?;
            found.extend(what.into_iter().map(|what| Disagreement {
                cycle: None,
                commit: Some(file.commit.clone()),
                what,
            }));
        }
        Ok(found)
    }

    fn hold_baseline(&mut self, place: usize, record: Option<&Record>) -> Result<Vec<String>> {
        let Sight::Seen(baseline) = self.snapshot_at(Some(place), names::BASELINE)? else {
            return Ok(Vec::new());
        };
        let first = match record {
            Some(record) => self.snapshot_at(Some(place), &names::snapshot(record.cycle))?,
            None => Sight::Unseen,
        };
        let first = first.seen().and_then(|first| first.as_ref().ok());
        let start = self.start_seen(baseline.as_ref().ok(), place)?;
        let named = baseline
            .as_ref()
            .ok()
            .and_then(|it| Some((it.cycle_start_sha.as_ref()?, it)));
        let goals = match (&start, named) {
            (Sight::Seen(_), Some((start, baseline))) => self.goals_measured(start, baseline)?,
            _ => Sight::Unseen,
        };
        let cycle = match record {
            Some(record) => Some(With {
                record,
                first,
                start: self.start_seen(first, place)?,
            }),
            None => None,
        };
        Ok(of_baseline(&Baseline {
            snapshot: baseline.as_ref().map_err(String::as_str),
            start,
            goals: match &goals {
                Sight::Seen((_, goals)) => Sight::Seen(goals),
                Sight::Gone => Sight::Gone,
                Sight::Unseen => Sight::Unseen,
            },
            cycle,
        }))
    }

    /// Returns what there is of the commit that a snapshot was taken from.
    fn start_seen(&self, snapshot: Option<&Snapshot>, follower: usize) -> Result<Sight<Kept>> {
        match snapshot.and_then(|snapshot| snapshot.cycle_start_sha.as_ref()) {
            Some(start) => self.kept(start, follower),
            None => Ok(Sight::Unseen),
        }
    }
}
