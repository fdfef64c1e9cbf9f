//! Cobertura reports, as coverage.py, istanbul, gcovr and others write them. Pure.
//!
//! The report's own counts are taken where it has them, since its rates are rounded; else the rate.

use roxmltree::Node;

use super::{Report, percent as share, xml};

/// What is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Of {
    /// Lines that were run.
    #[default]
    Lines,
    /// Branches that were taken.
    Branches,
}

/// The words for it.
pub const WORDS: &[(&str, Of)] = &[("lines", Of::Lines), ("branches", Of::Branches)];

/// What one report says.
enum Said {
    Counts { hit: u64, found: u64 },
    Rate(f64),
}

/// The names that the root has for it.
struct Names {
    what: &'static str,
    hit: &'static str,
    found: &'static str,
    rate: &'static str,
}

impl Of {
    fn names(self) -> Names {
        match self {
            Of::Lines => Names {
                what: "lines",
                hit: "lines-covered",
                found: "lines-valid",
                rate: "line-rate",
            },
            Of::Branches => Names {
                what: "branches",
                hit: "branches-covered",
                found: "branches-valid",
                rate: "branch-rate",
            },
        }
    }
}

/// Returns how much was hit, in percent.
pub fn percent(of: Of, reports: &[Report]) -> Result<f64, String> {
    let (mut hit, mut found) = (0_u64, 0_u64);
    for report in reports {
        match read(of, report)? {
            Said::Rate(rate) if reports.len() == 1 => return Ok(100.0 * rate),
            Said::Rate(_) => {
                return Err(format!(
                    "{} gives a rate without the {} it was taken from, which cannot be joined with other reports",
                    report.quoted(),
                    of.names().what
                ));
            }
            Said::Counts {
                hit: more_hit,
                found: more_found,
            } => {
                hit = hit.saturating_add(more_hit);
                found = found.saturating_add(more_found);
            }
        }
    }
    share(hit, found, (of.names().what, reports))
}

fn read(of: Of, report: &Report) -> Result<Said, String> {
    let (text, name) = (xml::clean(report), report.quoted());
    let document = xml::parse(report, &text)?;
    let root = document.root_element();
    let names = of.names();
    let is_cobertura = root.has_tag_name("coverage")
        && (root.has_attribute("line-rate") || root.has_attribute("lines-valid"));
    if !is_cobertura {
        let tag = root.tag_name().name();
        return Err(format!(
            "{name} is no Cobertura report: its root is <{tag}> without a line-rate"
        ));
    }
    let hit = xml::whole(root, names.hit, &name)?;
    let found = xml::whole(root, names.found, &name)?;
    if let (Some(hit), Some(found)) = (hit, found) {
        return Ok(Said::Counts { hit, found });
    }
    let nothing = Said::Counts { hit: 0, found: 0 };
    match xml::number(root, names.rate, &name)? {
        Some(rate) if !(0.0..=1.0).contains(&rate) => Err(format!(
            "{}=\"{rate}\" in {name} is not between 0 and 1",
            names.rate
        )),
        Some(rate) if root.descendants().any(|node| is_counted(of, node)) => Ok(Said::Rate(rate)),
        Some(_) | None => Ok(nothing),
    }
}

fn is_counted(of: Of, node: Node<'_, '_>) -> bool {
    let is_line = node.has_tag_name("line");
    match of {
        Of::Lines => is_line,
        Of::Branches => is_line && node.attribute("branch") == Some("true"),
    }
}
