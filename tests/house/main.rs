//! Rules about the sources and the documents: layers, citations, links and named files, generated
//! tables, examples, the README, settings, workflows.

#[path = "../support/mod.rs"]
mod support;

mod architecture;
mod circles;
mod citations;
mod closures;
mod documents;
mod examples;
mod generated;
mod limits;
mod named_code;
mod names;
mod packages;
mod readme;
mod settings;
mod workflows;
