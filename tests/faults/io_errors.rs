//! Full disks, failing devices, read-only trees: a clear error, and a state that can be resumed.
