//! What an editor asks for, one file a feature. Takes a snapshot and a place, returns plain data;
//! knows no protocol.

pub mod audience;
pub mod cursor;
pub mod definition;
pub mod effective;
pub mod hierarchy;
pub mod hover;
pub mod inspect;
pub mod phrases;
pub mod readers;
pub mod story;
