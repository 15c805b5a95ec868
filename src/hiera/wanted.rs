//! Whether somebody still waits for what is being computed.

use std::fmt;
use std::sync::Arc;

/// Whether somebody still waits. Work that may be long asks from step to step, and leaves off when nobody does: what it comes to then is
/// no result, and whoever began the work throws it away.
#[derive(Clone, Default)]
pub struct Wanted(Option<Arc<dyn Fn() -> bool + Send + Sync>>);

impl Wanted {
    /// As long as `is_wanted` says so: asked often, so it must be quick. After a no it must not say yes again.
    pub fn as_long_as(is_wanted: impl Fn() -> bool + Send + Sync + 'static) -> Wanted {
        Wanted(Some(Arc::new(is_wanted)))
    }

    /// Whether to go on; always, unless somebody may say otherwise.
    pub fn is_so(&self) -> bool {
        self.0.as_ref().is_none_or(|is_wanted| is_wanted())
    }
}

impl fmt::Debug for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Wanted").field(&self.is_so()).finish()
    }
}
