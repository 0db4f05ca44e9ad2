//! The committed query metadata in `.sqlx` matches this schema.

use std::fs;
use std::path::Path;

use serde_json::Value;
use sqlx::{Column as _, Either, Executor as _, PgPool, SqlSafeStr as _, TypeInfo as _};

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn query_metadata_is_fresh(db: PgPool) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.sqlx");
    let mut files = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let file: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let query = file["query"].as_str().unwrap().to_owned();
        let stale = |what: &str| format!("{what} of {} is stale: run `make prepare`\n{query}", path.display());

        let described = (&db).describe(sqlx::AssertSqlSafe(query.clone()).into_sql_str()).await;
        let described = described.unwrap_or_else(|error| panic!("{}\n{error}", stale("the query")));
        let committed = &file["describe"];
        let columns: Vec<_> = described.columns().iter().map(|column| column.name().to_owned()).collect();
        let names: Vec<_> = committed["columns"]
            .as_array()
            .unwrap()
            .iter()
            .map(|column| column["name"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(columns, names, "{}", stale("a column"));
        for (column, committed) in described.columns().iter().zip(committed["columns"].as_array().unwrap()) {
            let kind = column.type_info().name().to_lowercase();
            let committed = &committed["type_info"];
            let custom = committed["Custom"]["name"].as_str();
            let committed = committed.as_str().or(custom).unwrap().to_lowercase();
            assert_eq!(plain(&kind), plain(&committed), "{}", stale("a column's type"));
        }
        for (index, column) in columns.iter().enumerate() {
            // Where the query says `!` or `?`, the planner's view does not matter.
            if !column.ends_with(['!', '?']) {
                let committed = committed["nullable"][index].as_bool();
                assert_eq!(described.nullable(index), committed, "{}", stale("a column's nullability"));
            }
        }
        let Some(Either::Left(parameters)) = described.parameters() else { panic!("{}", stale("the parameters")) };
        let committed = committed["parameters"]["Left"].as_array().unwrap();
        assert_eq!(parameters.len(), committed.len(), "{}", stale("the number of parameters"));
        files += 1;
    }
    assert!(files > 20, "only {files} queries were found");
}

/// `INT8` and `Int8`, `TEXT[]` and `TextArray` are two spellings of the same type.
fn plain(name: &str) -> String {
    let name = name.replace("[]", "array");
    match name.as_str() {
        "boolean" => "bool".to_owned(),
        other => other.to_owned(),
    }
}
