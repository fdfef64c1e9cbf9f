//! A look into a folder of objects that asks nothing of the repository around it: neither its settings nor where else it
//! says that objects are.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::Path;

use git2::{Odb, Oid};

use super::Repo;
use super::failure::broken;
use crate::error::{Error, Result};

impl Repo {
    /// Has libgit2 look anew at what it holds open of packs, and of what is derived from objects. To be done where that was
    /// changed or taken away.
    pub fn look_anew(&self) -> Result<()> {
        let objects = self.inner.odb();
        objects
            .and_then(|objects| objects.refresh())
            .map_err(broken("look at the objects"))
    }
}

/// The objects of one folder.
pub struct Objects {
    objects: Odb<'static>,
    /// Held open while it is read by the name that it has among open files.
    _folder: File,
}

impl Objects {
    /// Opens a folder of objects.
    pub fn at(folder: &Path) -> Result<Objects> {
        let opened = File::open(folder).map_err(|cause| Error::io("open", folder, cause))?;
        // libgit2 goes on reading a pack of a known path that is gone, so this is another path to the same folder; and it takes
        // none that is no UTF-8.
        let name = format!("/proc/self/fd/{}", opened.as_raw_fd());
        let open = || {
            let objects = Odb::new()?;
            objects.add_disk_alternate(&name)?;
            Ok(objects)
        };
        Ok(Objects {
            objects: open().map_err(broken("open a folder of objects"))?,
            _folder: opened,
        })
    }

    /// Says whether an object is there in whole: it is read, and is what its id says.
    pub fn hold(&self, id: &str) -> bool {
        let id = Oid::from_str(id);
        id.is_ok_and(|id| self.objects.read(id).is_ok())
    }
}
