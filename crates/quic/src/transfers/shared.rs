//! What the tasks of a flow share.

use super::report::FlowReport;
use quinn::Connection;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// State that the tasks of a flow share.
#[derive(Default)]
pub(super) struct Shared {
    pub(super) seen: Mutex<FlowReport>,
    pub(super) connection: Mutex<Option<Connection>>,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
