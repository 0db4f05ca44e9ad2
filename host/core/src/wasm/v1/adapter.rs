//! Wraps the generated bindings of a world in the traits of [`crate::wasm::world`].

/// The world of kind `$kind`, from the bindings in `$pre`, with the functions `$name` of `$interface` that
/// decisions call.
macro_rules! world {
    ($kind:ident, $pre:path, $interface:literal, { $($name:ident: $params:ty => $answer:ty,)+ }) => {
        pub struct $kind {
            pre: $pre,
            $($name: crate::wasm::export::Export<$params, $answer>,)+
        }

        impl crate::wasm::world::World for $kind {
            const KIND: crate::domain::model::ModelKind = crate::domain::model::ModelKind::$kind;
            const INTERFACE: &str = $interface;

            fn new(pre: wasmtime::component::InstancePre<crate::wasm::tenant::Tenant>) -> wasmtime::Result<Self> {
                type Pre = $pre;
                let pre = Pre::new(pre)?;
                $(let $name = crate::wasm::export::Export::find(
                    pre.instance_pre(),
                    $interface,
                    &stringify!($name).replace('_', "-"),
                )?;)+
                Ok(Self { pre, $($name,)+ })
            }

            fn pre(&self) -> &wasmtime::component::InstancePre<crate::wasm::tenant::Tenant> {
                self.pre.instance_pre()
            }

            fn describe(
                &self,
                store: &mut crate::wasm::tenant::Store,
            ) -> wasmtime::Result<crate::wasm::world::Description> {
                let instance = self.pre.instantiate(&mut *store)?;
                let answer = instance.caudal_scoring_model().call_describe(store)?;
                let (kind, version, summary) = (answer.kind, answer.version, answer.summary);
                Ok(crate::wasm::world::Description { kind, version, summary, claims: None })
            }
        }
    };
}
pub(super) use world;

/// A world that scores, with `$interface`; its assessments are lifted as `$answer` and checked by `$check`.
macro_rules! scorer {
    ($kind:ident, $pre:path, $interface:literal, $answer:ty, $check:path $(; $($explain:tt)+)?) => {
        crate::wasm::v1::adapter::world!($kind, $pre, $interface, {
            assess: (wit::Request,) => Result<$answer, wit::Invalid>,
            assess_batch: (Vec<wit::Request>,) => Vec<Result<$answer, wit::Invalid>>,
        });

        impl crate::wasm::world::Scorer for $kind {
            type Request = Request;
            type Assessment = Assessment;

            fn assess(
                &self,
                store: &mut crate::wasm::tenant::Store,
                request: &Request,
            ) -> wasmtime::Result<crate::wasm::world::Answer<Self>> {
                let answer = self.assess.call(self.pre.instance_pre(), store, (request.into(),))?;
                Ok(answer.map(Into::into).map_err(Into::into))
            }

            fn assess_batch(
                &self,
                store: &mut crate::wasm::tenant::Store,
                requests: &[Request],
            ) -> wasmtime::Result<Vec<crate::wasm::world::Answer<Self>>> {
                let requests = requests.iter().map(Into::into).collect();
                let answers = self.assess_batch.call(self.pre.instance_pre(), store, (requests,))?;
                Ok(answers.into_iter().map(|answer| answer.map(Into::into).map_err(Into::into)).collect())
            }

            fn check(&self, assessment: &Assessment) -> Result<(), crate::domain::BadAnswer> {
                $check(assessment)
            }

            $($($explain)+)?
        }

        impl From<wit::Invalid> for crate::wasm::world::Unanswered {
            fn from(invalid: wit::Invalid) -> Self {
                Self::Invalid { field: invalid.field, code: invalid.code }
            }
        }
    };
}
pub(super) use scorer;
