//! Growth models through the readers, and merged files.

use std::sync::Arc;

use parallax_base::{MemorySource, Source};
use parallax_native::MappedFile;
use parallax_protocol::ModelsRequest;
use parallax_service::scaling::{
    EnsembleOptions, ScalingContent, ScalingOptions, ScalingSource, merge_pascal, models, scaling,
};
use serde_json::Value;

use crate::support::{corpus, database, file, open, rules};

/// Every model of Extra-P's own test files, whatever their format, read by our readers: what the
/// models say at the measured points.
#[test]
fn extrap_files_have_the_models_of_extrap() {
    let Some(corpus) = corpus() else { return };
    let folder = corpus.join("data/extrap");
    let golden = folder.join("golden_extrap_4.2.5_default_modeler.json");
    // Python writes numbers that JSON does not have.
    let golden = std::fs::read_to_string(golden).unwrap();
    let golden = golden.replace("-Infinity", "null").replace("Infinity", "null");
    let golden: Value = serde_json::from_str(&golden.replace("NaN", "null")).unwrap();
    let (mut compared, mut formats) = (0, std::collections::BTreeSet::new());
    for (name, expected) in golden.as_object().unwrap() {
        let (ensemble, _) = open(&[file(&folder.join(name))], &EnsembleOptions::default()).unwrap();
        formats.insert(ensemble.metadata.format.clone());
        let answer = models(&ensemble, &ModelsRequest::default()).unwrap().value;
        for expected in expected["mean"]["models"].as_array().unwrap() {
            // Where a file names none, Extra-P says nothing or `<root>` and `<default>`.
            let named = |key: &str, none: &'static str| {
                let text = expected[key].as_str().unwrap();
                if text.is_empty() { none.to_owned() } else { text.to_owned() }
            };
            let (path, metric) = (named("callpath", "<root>"), named("metric", "<default>"));
            let found = answer
                .models
                .iter()
                .find(|found| found.region.path == path && found.metric == metric);
            let found = found.unwrap_or_else(|| panic!("{name}: no model of {path} {metric}"));
            for entry in expected["predictions"].as_array().unwrap() {
                let point: Vec<f64> =
                    entry[0].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
                let value = found.model.function.evaluate(&point).unwrap();
                let expected = entry[2].as_f64().unwrap();
                // Ties on crosses of points are the same function in another form.
                let near = (value - expected).abs() <= 1e-8 * expected.abs().max(1e-3);
                assert!(near, "{name} {path} {metric} at {point:?}: {value} {expected}");
            }
            compared += 1;
        }
    }
    assert_eq!(compared, 110, "all models were compared");
    assert!(formats.len() >= 4, "{formats:?}");
}

/// miniFE assembles and multiplies matrices of `n^3` rows: the time of one rank grows with `n`
/// like a cube, give or take the logarithm.
#[test]
fn minife_grows_with_the_cube_of_its_size() {
    let Some(corpus) = corpus() else { return };
    let folder = corpus.join("data/hpctoolkit/measured/model-minife");
    let mut sources = Vec::new();
    for p in [1, 2, 4, 8, 16] {
        for n in [20, 40, 60] {
            sources.push(database(&folder.join(format!("p{p}.n{n}"))));
        }
    }
    let (ensemble, _) = open(&sources, &rules(&["cores=ranks", r"n=path:n(\d+)"])).unwrap();
    assert_eq!(ensemble.coordinates().len(), 15);
    let answer = models(&ensemble, &ModelsRequest::default()).unwrap();
    assert_eq!(answer.value.parameters, ["cores", "n"]);
    let whole = &answer.value.models[0];
    assert_eq!((whole.region.id.as_str(), whole.num_points), ("0", 15));
    let at = |n: f64| whole.model.function.evaluate(&[4.0, n]).unwrap();
    let growth = (at(60.0) / at(30.0)).log2();
    assert!((2.0..=3.5).contains(&growth), "doubling n multiplies time by 2^{growth}");
}

#[test]
fn numbers_inside_arguments_can_be_parameters() {
    let Some(corpus) = corpus() else { return };
    let path = corpus.join("data/pascal/swaptions/swaptions-openmp.json");
    let (ensemble, _) = open(&[file(&path)], &EnsembleOptions::default()).unwrap();
    // Without the rule only cores are numbers, and each input has its own model.
    let apart = models(&ensemble, &ModelsRequest::default()).unwrap().value;
    assert_eq!((apart.parameters.as_slice(), apart.models.len()), (["cores".into()].as_slice(), 4));
    let rule = r"input=-sm (\d+)".to_owned();
    let request = ModelsRequest { numbers: vec![rule], ..ModelsRequest::default() };
    let joint = models(&ensemble, &request).unwrap().value;
    assert_eq!((joint.parameters.len(), joint.models.len()), (2, 1));
    assert_eq!(joint.models[0].num_points, 128);
    let wrong = "input=([a-z]{40})".to_owned();
    let request = ModelsRequest { numbers: vec![wrong], ..ModelsRequest::default() };
    assert!(models(&ensemble, &request).unwrap_err().is_misuse());
}

fn source(bytes: Vec<u8>) -> Source {
    Arc::new(MemorySource::new(bytes))
}

#[test]
fn merging_a_file_with_itself_doubles_its_repetitions_and_nothing_else() {
    let Some(corpus) = corpus() else { return };
    for name in ["MiniCosta/escalabilidade_variavel.json", "swaptions/swaptions-openmp.json"] {
        let path = corpus.join("data/pascal").join(name);
        let mapped: Source = Arc::new(MappedFile::open(&path).unwrap());
        let files = [("one.json".to_owned(), mapped.clone()), ("two.json".to_owned(), mapped)];
        let mut bytes = Vec::new();
        let merged = merge_pascal(&files, &mut bytes).unwrap();
        let content = ScalingContent::File(source(bytes));
        let once = open(&[file(&path)], &EnsembleOptions::default()).unwrap().0;
        let twice = ScalingSource { name: "merged.json".to_owned(), content };
        let twice = open(&[twice], &EnsembleOptions::default()).unwrap().0;
        let (once, twice) = (
            scaling(&once, &ScalingOptions::default()).unwrap(),
            scaling(&twice, &ScalingOptions::default()).unwrap(),
        );
        assert_eq!(merged.inputs, once.inputs);
        assert_eq!(once.inputs, twice.inputs);
        assert_eq!(once.regions.len(), twice.regions.len());
        for at in 0..once.regions.len() {
            let (a, b) = (once.maps(at).unwrap(), twice.maps(at).unwrap());
            assert_eq!(a.time, b.time, "{name}: medians of doubled values are the same");
            assert_eq!(2 * a.repetitions(0, 0), b.repetitions(0, 0));
        }
    }
}

#[test]
fn merging_joins_inputs_by_their_arguments() {
    let Some(corpus) = corpus() else { return };
    let folder = corpus.join("data/pascal/swaptions");
    let files: Vec<(String, Source)> =
        ["swaptions-openmp.json", "swaptions-openmp_parallel_z.json"]
            .iter()
            .map(|name| {
                let mapped: Source = Arc::new(MappedFile::open(&folder.join(name)).unwrap());
                ((*name).to_owned(), mapped)
            })
            .collect();
    let mut bytes = Vec::new();
    let merged = merge_pascal(&files, &mut bytes).unwrap();
    // Both measured the native input; the three others differ.
    assert_eq!(merged.inputs.len(), 7);
    let content = ScalingContent::File(source(bytes));
    let whole = ScalingSource { name: "merged.json".to_owned(), content };
    let (ensemble, _) = open(&[whole], &EnsembleOptions::default()).unwrap();
    let answer = scaling(&ensemble, &ScalingOptions::default()).unwrap();
    assert_eq!(answer.inputs, merged.inputs);
    for (name, source) in &files {
        let content = ScalingContent::File(Arc::clone(source));
        let part = ScalingSource { name: name.clone(), content };
        let (part, _) = open(&[part], &EnsembleOptions::default()).unwrap();
        let part = scaling(&part, &ScalingOptions::default()).unwrap();
        for (i, input) in part.inputs.iter().enumerate().filter(|(_, x)| !x.contains("1000000")) {
            let at = answer.inputs.iter().position(|known| known == input).unwrap();
            let (a, b) = (part.maps(0).unwrap(), answer.maps(0).unwrap());
            assert!(a.time.row(i).eq(b.time.row(at)), "{name} {input}");
        }
    }
}
