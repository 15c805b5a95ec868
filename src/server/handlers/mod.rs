//! One function a message. Most requests are functions of a snapshot, of the client and of the
//! parameters, which ask a feature of `ide` and convert its plain data; `dispatch` computes these,
//! and may compute one twice. Notifications change the state before the next message begins, so
//! they are no `async` functions.

pub(super) mod actions;
pub(super) mod calls;
pub(super) mod completion;
pub(super) mod definition;
pub(super) mod documents;
pub(super) mod evaluate;
pub(super) mod hints_and_lenses;
pub(super) mod nodes;
pub(super) mod overrides;
pub(super) mod pages;
pub(super) mod references;
pub(super) mod rename;
pub(super) mod semantic_tokens;
pub(super) mod structure;
pub(super) mod symbols;
pub(super) mod views;

/// The answer to a request; `None` is the protocol's `null`.
pub(super) type Answer<T> = tower_lsp::jsonrpc::Result<Option<T>>;
