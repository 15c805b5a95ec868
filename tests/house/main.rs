//! Rules about the sources and the documents: layers, citations, named files, the README's tables
//! and examples, settings.

mod architecture;
mod citations;
mod documents;
mod limits;
mod readme;
mod settings;
