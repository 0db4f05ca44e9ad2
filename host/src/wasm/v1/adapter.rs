//! Wraps the generated bindings of a world in the traits of [`crate::wasm::world`].

/// The world of kind `$kind`, from the bindings in `$pre`.
macro_rules! world {
    ($kind:ident, $pre:path) => {
        pub struct $kind($pre);

        impl crate::wasm::world::World for $kind {
            const KIND: crate::domain::model::ModelKind = crate::domain::model::ModelKind::$kind;

            fn new(pre: wasmtime::component::InstancePre<crate::wasm::tenant::Tenant>) -> wasmtime::Result<Self> {
                type Pre = $pre;
                Pre::new(pre).map(Self)
            }

            fn pre(&self) -> &wasmtime::component::InstancePre<crate::wasm::tenant::Tenant> {
                self.0.instance_pre()
            }

            fn describe(
                &self,
                store: &mut crate::wasm::tenant::Store,
            ) -> wasmtime::Result<crate::wasm::world::Description> {
                let instance = self.0.instantiate(&mut *store)?;
                let answer = instance.caudal_scoring_model().call_describe(store)?;
                let (kind, version, summary) = (answer.kind, answer.version, answer.summary);
                Ok(crate::wasm::world::Description { kind, version, summary })
            }
        }
    };
}
pub(super) use world;

/// A world that scores: `$interface` is its interface in `$pre`. `assess` takes its request by value
/// unless a `&` in the last argument says that the request is not `Copy`.
macro_rules! scorer {
    ($kind:ident, $pre:path, $interface:ident, ($($by:tt)?)) => {
        crate::wasm::v1::adapter::world!($kind, $pre);

        impl crate::wasm::world::Scorer for $kind {
            type Request = Request;
            type Assessment = Assessment;

            fn assess(
                &self,
                store: &mut crate::wasm::tenant::Store,
                request: &Request,
            ) -> wasmtime::Result<crate::wasm::world::Answer<Self>> {
                let instance = self.0.instantiate(&mut *store)?;
                let answer = instance.$interface().call_assess(store, $($by)? request.into())?;
                Ok(answer.map(Into::into).map_err(Into::into))
            }

            fn assess_batch(
                &self,
                store: &mut crate::wasm::tenant::Store,
                requests: &[Request],
            ) -> wasmtime::Result<Vec<crate::wasm::world::Answer<Self>>> {
                let instance = self.0.instantiate(&mut *store)?;
                let requests: Vec<wit::Request> = requests.iter().map(Into::into).collect();
                let answers = instance.$interface().call_assess_batch(store, &requests)?;
                Ok(answers.into_iter().map(|answer| answer.map(Into::into).map_err(Into::into)).collect())
            }

            fn check(assessment: &Assessment) -> Result<(), crate::domain::BadAnswer> {
                assessment.check()
            }
        }

        impl From<wit::Invalid> for crate::wasm::world::Invalid {
            fn from(invalid: wit::Invalid) -> Self {
                Self { field: invalid.field, code: invalid.code }
            }
        }
    };
}
pub(super) use scorer;
