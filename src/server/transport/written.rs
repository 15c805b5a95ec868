//! Results that are written as JSON once. tower-lsp makes a [`Value`](serde_json::Value) of each
//! result and a text of that; for long results that takes longer than to compute them.
//!
//! A [`SerializedResult`] result leaves its text with the request that is being handled, and is `null` to
//! tower-lsp. The transport puts the text in the place of the `null`.

use std::cell::RefCell;
use std::future::Future;
use std::sync::Arc;

use futures_util::FutureExt;
use serde::{Serialize, Serializer};
use tower_lsp::jsonrpc::Response;

tokio::task_local! {
    /// The result that the handler of a request wrote.
    static RESULT: RefCell<Option<Arc<str>>>;
}

/// A result of a request, as JSON. Only as a whole result it may be part of an answer.
#[derive(Clone, Debug)]
pub(in crate::server) struct SerializedResult(Arc<str>);

impl SerializedResult {
    /// Writes a result. `None` for a value that JSON does not have, such as a hash whose keys are no
    /// strings.
    pub(in crate::server) fn from_result(result: &impl Serialize) -> Option<SerializedResult> {
        serde_json::to_string(result).ok().map(|text| SerializedResult(text.into()))
    }
}

impl Serialize for SerializedResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let is_kept = RESULT.try_with(|result| result.replace(Some(self.0.clone()))).is_ok();
        debug_assert!(is_kept, "results are written while a request is handled");
        serializer.serialize_unit()
    }
}

/// An answer to a request.
#[derive(Debug)]
pub(super) struct ResponseText {
    /// The answer as tower-lsp has it.
    pub(super) response: Response,
    /// The JSON that takes the place of its result.
    result: Option<Arc<str>>,
}

impl ResponseText {
    /// Returns the answer that a request's handler gives; `None` where there is none.
    pub(super) async fn from_handler(
        handler: impl Future<Output = Option<Response>>,
    ) -> Option<ResponseText> {
        RESULT
            .scope(
                RefCell::default(),
                handler.map(|response| {
                    let result = RESULT.with(RefCell::take);
                    response.map(|response| ResponseText { response, result })
                }),
            )
            .await
    }

    /// Returns the answer as JSON; `None` where it has none.
    pub(super) fn to_json(&self) -> Option<String> {
        let Some(result) = self.result.as_ref().filter(|_| self.response.is_ok()) else {
            return serde_json::to_string(&self.response).ok();
        };
        let id = serde_json::to_string(self.response.id()).ok()?;
        Some(format!(r#"{{"jsonrpc":"2.0","result":{result},"id":{id}}}"#))
    }
}

impl From<Response> for ResponseText {
    fn from(response: Response) -> ResponseText {
        ResponseText { response, result: None }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tower_lsp::jsonrpc::{Error, Id};

    use super::*;

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        runtime.expect("a runtime can be made").block_on(future)
    }

    fn answer(result: impl Serialize, response: impl Fn(Value) -> Response) -> Value {
        let handler = async { Some(response(serde_json::to_value(result).expect("it is JSON"))) };
        let answer = block_on(ResponseText::from_handler(handler)).expect("there is an answer");
        serde_json::from_str(&answer.to_json().expect("it is written")).expect("it is JSON")
    }

    #[test]
    fn a_written_result_is_the_result_of_its_request() {
        let result = json!({"a": [1, "\"\u{1f600}"]});
        let written = SerializedResult::from_result(&result).expect("it is JSON");
        let ok = |value| Response::from_ok(Id::String("x\"".into()), value);
        let expected = json!({"jsonrpc": "2.0", "id": "x\"", "result": result});
        assert_eq!(answer(Some(&written), ok), expected);
        assert_eq!(answer(&result, ok), expected, "as one that is not written");
        let none: Option<SerializedResult> = None;
        assert_eq!(answer(none, ok)["result"], Value::Null);
    }

    #[test]
    fn an_error_stays_an_error() {
        let written = SerializedResult::from_result(&1).expect("it is JSON");
        let failed = |_| Response::from_error(Id::Number(7), Error::internal_error());
        let answer = answer(written, failed);
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32603), &json!(7)));
        assert_eq!(answer.get("result"), None);
    }
}
