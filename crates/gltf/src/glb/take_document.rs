//! A take of morphing surfaces as a glTF document, put together body by body.

use super::normals::Normals;
use crate::components::Components;
use crate::document::Document;
use serde_json::{Value, json};
use sinew_take::{SinkError, SurfaceInfo, Up, body_color};
use std::io::Write;

/// One body and its motion.
pub(super) struct Body<'a> {
    /// Its index in the scene.
    pub(super) index: usize,
    pub(super) surface: &'a SurfaceInfo,
    pub(super) components: &'a Components,
    pub(super) normals: &'a Normals,
}

/// A document under construction.
pub(super) struct TakeDocument {
    document: Document,
    nodes: Vec<usize>,
    samplers: Vec<Value>,
    channels: Vec<Value>,
    times: Vec<f64>,
    times_accessor: Option<usize>,
    up: Up,
}

impl TakeDocument {
    /// A document without bodies, whose keys are at the given times (s).
    pub(super) fn new(up: Up, times: &[f64]) -> TakeDocument {
        TakeDocument {
            document: Document::new(),
            nodes: Vec::new(),
            samplers: Vec::new(),
            channels: Vec::new(),
            times: times.to_vec(),
            times_accessor: None,
            up,
        }
    }

    /// Adds a body: its mesh, its material and the keys of its weights.
    pub(super) fn add_body(&mut self, body: Body) {
        let Body { index, surface, components, normals } = body;
        let material = self.document.add_material(&surface.name, body_color(index));
        let mut primitive = json!({
            "attributes": self.document.add_shape(&components.base, &normals.base),
            "indices": self.document.add_indices(&surface.triangles),
            "material": material,
        });
        let mut mesh = json!({ "name": surface.name });
        let count = components.deltas.len();
        if count > 0 {
            let shapes = components.deltas.iter().zip(&normals.deltas);
            let targets: Vec<Value> =
                shapes.map(|(deltas, normals)| self.document.add_shape(deltas, normals)).collect();
            primitive["targets"] = json!(targets);
            // viewers that play nothing show the first frame
            mesh["weights"] = json!(components.weights[0]);
            let names: Vec<String> = (1..=count).map(|k| format!("component_{k:02}")).collect();
            mesh["extras"] = json!({ "targetNames": names });
            self.add_keys(&components.weights);
        }
        mesh["primitives"] = json!([primitive]);
        let mesh = self.document.push("meshes", mesh);
        self.nodes.push(self.document.push("nodes", json!({ "name": surface.name, "mesh": mesh })));
    }

    /// Writes the container and returns its length (bytes).
    pub(super) fn write(mut self, file: impl Write) -> Result<u64, SinkError> {
        let mut roots = self.nodes;
        if self.up == Up::Z && !roots.is_empty() {
            // a quarter turn about x brings z up to y
            let half = std::f64::consts::FRAC_1_SQRT_2;
            let turned = json!({ "name": "z up", "children": roots, "rotation": [-half, 0.0, 0.0, half] });
            roots = vec![self.document.push("nodes", turned)];
        }
        self.document.add_scene(&roots);
        if !self.channels.is_empty() {
            let take = json!({ "name": "take", "samplers": self.samplers, "channels": self.channels });
            self.document.push("animations", take);
        }
        self.document.write(file)
    }

    /// Adds keys of the weights of the body that is added next.
    fn add_keys(&mut self, weights: &[Vec<f32>]) {
        let input = *self.times_accessor.get_or_insert_with(|| self.document.add_times(&self.times));
        let output = self.document.add_floats(&weights.concat(), "SCALAR");
        self.samplers.push(json!({ "input": input, "output": output, "interpolation": "LINEAR" }));
        let target = json!({ "node": self.nodes.len(), "path": "weights" });
        self.channels.push(json!({ "sampler": self.samplers.len() - 1, "target": target }));
    }
}
