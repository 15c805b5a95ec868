//! The lookup's half of `lookup_options`: assembling them from all layers, and what they say about one key.

use std::rc::Rc;
use std::sync::Arc;

use super::{Choice, Invocation, LOOKUP_OPTIONS, Options, OptionsOf, Resolver, is_reserved};
use crate::hiera::config::Layer;
use crate::hiera::error::{Frame, LookupError, LookupErrorKind};
use crate::hiera::key::{LookupKey, Segment};
use crate::hiera::lookup_options::{LookupOptions, check_layer_options};
use crate::hiera::merge::{Strategy, fold};
use crate::hiera::resolution::MergeSource;
use crate::hiera::value::{Data, Value};

impl Resolver<'_> {
    pub(super) fn choose(&self, inv: &mut Invocation, key: &LookupKey, merge: Option<&Strategy>) -> Result<Choice, LookupError> {
        let mut choice = Choice::default();
        if is_reserved(&key.text) {
            return Ok(choice);
        }
        let Segment::Name(root) = &key.root else {
            return Err(LookupError::crash(format!("undefined method `index' for {}:Integer", key.root)));
        };
        let options = self.options(inv, key.module())?;
        if let Some(entry) = Result::as_ref(&options).map_err(Clone::clone)?.entry(root) {
            choice.convert_to = entry.convert_to();
            if merge.is_none()
                && let Some(strategy) = entry.merge()?
            {
                choice.merge = strategy;
                choice.merge_source = MergeSource::Options(entry);
            }
        }
        if let Some(strategy) = merge {
            choice.merge = strategy.clone();
            choice.merge_source = MergeSource::Argument;
        }
        Ok(choice)
    }

    /// The options for keys of a module, or for keys of none. Source: semantics 7.1.
    pub(super) fn options(&self, inv: &mut Invocation, module: Option<&str>) -> Result<Options, LookupError> {
        let module: Option<Arc<str>> = module.map(Into::into);
        // Those of the key that was asked for, and those for keys of no module, are known before any layer is read.
        let global_only = inv.reading.is_confined && module.is_some() && module != inv.module;
        let wanted = OptionsOf { module, global_only };
        if let Some(known) = self.options.borrow().get(&wanted) {
            return Ok(known.clone());
        }
        if let Some(first) = inv.stack.iter().position(|frame| frame.text == LOOKUP_OPTIONS) {
            let again = Frame { text: LOOKUP_OPTIONS.into(), asked_by: None };
            return Err(LookupError::new(LookupErrorKind::Recursion { frames: inv.stack[first..].to_vec(), again }, None));
        }
        let mut meta = Invocation { stack: inv.stack.clone(), module: inv.module.clone(), ..Invocation::default() };
        let assembled = self.assemble_options(&mut meta, &wanted).and_then(|value| Ok(LookupOptions::new(value)?));
        let assembled = Rc::new(assembled);
        // What an error says depends on the lookups in progress.
        if assembled.is_ok() || inv.stack.is_empty() {
            self.options.borrow_mut().insert(wanted, assembled.clone());
        }
        Ok(assembled)
    }

    fn assemble_options(&self, inv: &mut Invocation, wanted: &OptionsOf) -> Result<Option<Value>, LookupError> {
        let frame = Frame { text: LOOKUP_OPTIONS.into(), asked_by: None };
        let mut layers = vec![Layer::Global];
        if !wanted.global_only {
            layers.push(Layer::Environment);
            layers.extend(wanted.module.clone().map(Layer::Module));
        }
        let mut values = Vec::new();
        for layer in &layers {
            let value = self.search_layer(inv, layer, LOOKUP_OPTIONS, &frame, &Strategy::Hash)?;
            if let Some(Value { data: Data::Null, .. }) = value {
                if matches!(layer, Layer::Module(_)) {
                    return Ok(None); // a slip of Puppet's: a module's null takes all options away
                }
                values.push(None);
                continue;
            }
            if let Some(value) = &value {
                check_layer_options(value, layer)?;
            }
            values.push(value);
        }
        fold::<LookupError>(&Strategy::Hash, values.len(), &mut |n| Ok(values[n].take()))
    }
}
