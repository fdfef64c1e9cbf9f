//! Landlock: rules that the kernel keeps for this process and everything that it starts. The only place that knows the crate.

use std::path::PathBuf;

use crate::model::sandbox::Reach;

#[cfg(target_os = "linux")]
pub use linux::{reach, restrict, scope};

#[cfg(not(target_os = "linux"))]
pub use elsewhere::{reach, restrict, scope};

/// What is asked of the kernel.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    /// What may be written, with everything below it.
    pub write: Vec<PathBuf>,
    /// TCP may be used.
    pub network: bool,
}

#[cfg(target_os = "linux")]
mod linux {
    use landlock::{
        ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr,
        RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, path_beneath_rules,
    };

    use rustix::thread::{
        CapabilitySet, capability_is_in_bounding_set, remove_capability_from_bounding_set,
    };

    use super::{Bounds, Reach};
    use crate::model::sandbox::KEPT;

    /// The newest version of Landlock whose rights are understood here; an older kernel keeps what it knows of them.
    const NEWEST: ABI = ABI::V8;
    /// What every program writes to and nobody owns.
    const DEVICES: [&str; 8] = [
        "/dev/null",
        "/dev/zero",
        "/dev/full",
        "/dev/random",
        "/dev/urandom",
        "/dev/tty",
        "/dev/ptmx",
        "/dev/pts",
    ];

    /// Returns how far this kernel's Landlock reaches; none if it has none, or it is turned off.
    pub fn reach() -> Option<Reach> {
        let strict = || Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        let writes = |abi| {
            let made = strict().handle_access(AccessFs::from_write(abi));
            made.and_then(Ruleset::create).is_ok()
        };
        let network = strict().handle_access(AccessNet::from_all(NEWEST));
        let signals = strict().scope(Scope::from_all(NEWEST));
        writes(ABI::V1).then(|| Reach {
            writes: writes(ABI::V3),
            network: network.and_then(Ruleset::create).is_ok(),
            signals: signals.and_then(Ruleset::create).is_ok(),
        })
    }

    /// Restricts this process, and what it becomes, for good; an error says that it is not.
    pub fn restrict(bounds: &Bounds) -> Result<(), String> {
        if nix::unistd::Uid::effective().is_root() {
            drop_capabilities().map_err(|cause| format!("what root may do stays: {cause}"))?;
        }
        match ruled(bounds) {
            Ok(RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced) => Ok(()),
            Ok(RulesetStatus::NotEnforced) => Err("this kernel has no Landlock".to_owned()),
            Err(cause) => Err(cause.to_string()),
        }
    }

    /// Keeps this process, and what it becomes, from signalling others and from their sockets without a file, where the kernel
    /// can; an error says that it could not be asked.
    pub fn scope() -> Result<(), String> {
        let scoped = Ruleset::default().scope(Scope::from_all(NEWEST));
        let made = scoped.and_then(Ruleset::create);
        let bound = made.and_then(|rules| rules.restrict_self());
        bound.map(|_| ()).map_err(|cause| cause.to_string())
    }

    /// Takes from root what reaches around the rules: to read the memory of others, to make device files, to load modules.
    fn drop_capabilities() -> rustix::io::Result<()> {
        let kept: CapabilitySet = KEPT
            .iter()
            .filter_map(|name| CapabilitySet::from_name(name.trim_start_matches("CAP_")))
            .collect();
        for capability in CapabilitySet::all().difference(kept).iter() {
            // An older kernel does not know them all.
            if capability_is_in_bounding_set(capability).unwrap_or(false) {
                remove_capability_from_bounding_set(capability)?;
            }
        }
        Ok(())
    }

    fn ruled(bounds: &Bounds) -> Result<RulesetStatus, RulesetError> {
        let rights = AccessFs::from_write(NEWEST);
        let mut ruleset = Ruleset::default()
            .handle_access(rights)?
            .scope(Scope::from_all(NEWEST))?;
        if !bounds.network {
            ruleset = ruleset.handle_access(AccessNet::from_all(NEWEST))?;
        }
        let ruleset = ruleset
            .create()?
            .add_rules(path_beneath_rules(
                &bounds.write,
                rights & !(AccessFs::MakeChar | AccessFs::MakeBlock),
            ))?
            .add_rules(path_beneath_rules(
                DEVICES,
                AccessFs::WriteFile | AccessFs::IoctlDev,
            ))?;
        Ok(ruleset.restrict_self()?.ruleset)
    }
}

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use super::{Bounds, Reach};

    /// There is no Landlock but on Linux.
    pub fn reach() -> Option<Reach> {
        None
    }

    /// There is no Landlock but on Linux.
    pub fn scope() -> Result<(), String> {
        Ok(())
    }

    /// There is no Landlock but on Linux.
    pub fn restrict(_: &Bounds) -> Result<(), String> {
        Err("only Linux has Landlock".to_owned())
    }
}
