//! Rules about the sources and the documents: layers, citations, named files, the README's tables
//! and examples, settings, workflows.

#[path = "../support/mod.rs"]
mod support;

mod architecture;
mod circles;
mod citations;
mod documents;
mod limits;
mod readme;
mod settings;
mod workflows;
