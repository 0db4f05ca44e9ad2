//! An exported function of a component.

use std::marker::PhantomData;

use wasmtime::component::{ComponentExportIndex, ComponentNamedList, Instance, InstancePre, Lift, Lower};

use crate::wasm::tenant::{Store, Tenant};

/// An exported function. The generated bindings check the types of every function of a world in each new
/// instance, and a decision needs one of them.
pub(super) struct Export<Params, Answer> {
    index: ComponentExportIndex,
    signature: PhantomData<fn(Params) -> Answer>,
}

impl<Params, Answer> Export<Params, Answer>
where
    Params: ComponentNamedList + Lower,
    (Answer,): ComponentNamedList + Lift,
{
    pub(super) fn find(pre: &InstancePre<Tenant>, interface: &str, function: &str) -> wasmtime::Result<Self> {
        let index = pre.component().get_export_index(None, interface);
        let index = index.and_then(|interface| pre.component().get_export_index(Some(&interface), function));
        let missing = || wasmtime::format_err!("{interface} has no function {function}");
        Ok(Self { index: index.ok_or_else(missing)?, signature: PhantomData })
    }

    /// Calls the function of a new instance.
    pub(super) fn call(
        &self,
        pre: &InstancePre<Tenant>,
        store: &mut Store,
        params: Params,
    ) -> wasmtime::Result<Answer> {
        let instance = pre.instantiate(&mut *store)?;
        self.call_in(&instance, store, params)
    }

    /// Calls the function of an instance.
    pub(super) fn call_in(&self, instance: &Instance, store: &mut Store, params: Params) -> wasmtime::Result<Answer> {
        let function = instance.get_typed_func::<Params, (Answer,)>(&mut *store, &self.index)?;
        let (answer,) = function.call(store, params)?;
        Ok(answer)
    }
}
