//! The token by which long work learns that its result is no longer needed.

use std::fmt;
use std::sync::Arc;

/// Stops long computations. Loops check the token between steps; the result of a cancelled
/// computation is incomplete, and its caller discards it. The default token is never cancelled.
#[derive(Clone, Default)]
pub struct CancelToken(Option<Arc<dyn Fn() -> bool + Send + Sync>>);

impl CancelToken {
    /// Returns a token that is cancelled when `is_cancelled` returns `true`. The function is called
    /// often, so it must be quick; after it returned `true` it must not return `false` again.
    pub fn new(is_cancelled: impl Fn() -> bool + Send + Sync + 'static) -> CancelToken {
        CancelToken(Some(Arc::new(is_cancelled)))
    }

    /// Returns whether the computation should stop.
    pub fn is_cancelled(&self) -> bool {
        self.0.as_ref().is_some_and(|is_cancelled| is_cancelled())
    }
}

impl fmt::Debug for CancelToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CancelToken").field(&self.is_cancelled()).finish()
    }
}
