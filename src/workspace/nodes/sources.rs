//! Sources of nodes that are told by their shape, without any setting: which files these are, and
//! what each kind says.

pub(super) mod bolt;
