//! A bar with two joints, a take and a blend shape, as an exporter writes it.
//!
//! In metres and with y up: a box of 0.2 × 1 × 0.2 around the origin. The joint `lower` stands at y = −0.5, `upper` below it in the tree at
//! y = 0. Vertices in the lower half follow the one, those above the other. In the take, `lower` moves by 1 m along x and `upper` turns by 90°
//! about z, within a second.

use crate::document::{Record, Value, leaf, record};

/// How the bar is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    /// Centimetres per unit.
    pub(crate) unit: f64,
    /// The axis that points up: 1 for y, 2 for z.
    pub(crate) up: usize,
}

/// One second of FBX.
const SECOND: i64 = 46_186_158_000;
// the numbers of objects
const GEOMETRY: i64 = 100;
const MESH: i64 = 101;
const LOWER: i64 = 102;
const UPPER: i64 = 103;
const SKIN: i64 = 104;
const LOWER_CLUSTER: i64 = 105;
const UPPER_CLUSTER: i64 = 106;
const STACK: i64 = 107;
const LAYER: i64 = 108;
const MOVES: i64 = 109;
const TURNS: i64 = 110;
const ALONG: i64 = 111;
const AROUND: i64 = 112;
const MATERIAL: i64 = 113;
const BLEND: i64 = 114;
const CHANNEL: i64 = 115;
const SHAPE: i64 = 116;

impl Form {
    /// A point in metres and y up, in the file's unit and axes.
    fn point(&self, [x, y, z]: [f64; 3]) -> [f64; 3] {
        let scale = 100.0 / self.unit;
        let turned = if self.up == 2 { [x, -z, y] } else { [x, y, z] };
        turned.map(|c| c * scale)
    }

    fn translation(&self, point: [f64; 3]) -> Vec<f64> {
        let [x, y, z] = self.point(point);
        vec![1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, x, y, z, 1.0]
    }

    /// The document of the bar.
    pub(crate) fn document(&self) -> Vec<Record> {
        let axis = |name, value: usize| property(name, "int", vec![Value::Int(value as i32)]);
        let signs = ["UpAxisSign", "FrontAxisSign", "CoordAxisSign"];
        let mut settings =
            vec![axis("UpAxis", self.up), axis("FrontAxis", 3 - self.up), axis("CoordAxis", 0)];
        // with z up, the front is −y
        settings.extend(signs.map(|name| {
            let sign = if name == "FrontAxisSign" && self.up == 2 { -1 } else { 1 };
            property(name, "int", vec![Value::Int(sign)])
        }));
        settings.push(property("UnitScaleFactor", "double", vec![Value::Float(self.unit)]));
        vec![
            record("FBXHeaderExtension", vec![], vec![leaf("FBXVersion", Value::Int(7400))]),
            record("GlobalSettings", vec![], vec![record("Properties70", vec![], settings)]),
            record("Objects", vec![], self.objects()),
            record("Connections", vec![], connections(self.around().0)),
        ]
    }

    /// The axis and the angle (degrees) that turn about z of the world, which is −y of a file with z up.
    fn around(&self) -> (&'static str, f64) {
        if self.up == 2 { ("d|Y", -90.0) } else { ("d|Z", 90.0) }
    }

    fn objects(&self) -> Vec<Record> {
        let lower = self.point([0.0, -0.5, 0.0]);
        let along = self.point([1.0, 0.0, 0.0])[0];
        vec![
            self.geometry(),
            model(MESH, "Bar", "Mesh", [0.0; 3]),
            model(LOWER, "lower", "LimbNode", lower),
            model(UPPER, "upper", "LimbNode", self.point([0.0, 0.5, 0.0])),
            object(
                "Material",
                MATERIAL,
                ("Skin", "Material"),
                "",
                vec![record(
                    "Properties70",
                    vec![],
                    vec![property("DiffuseColor", "Color", [0.8, 0.4, 0.2].map(Value::Float).into())],
                )],
            ),
            object("Deformer", SKIN, ("Bar", "Deformer"), "Skin", vec![]),
            self.cluster(LOWER_CLUSTER, [0, 1, 2, 3], [0.0, -0.5, 0.0]),
            self.cluster(UPPER_CLUSTER, [4, 5, 6, 7], [0.0, 0.0, 0.0]),
            object("Deformer", BLEND, ("Swollen", "Deformer"), "BlendShape", vec![]),
            object(
                "Deformer",
                CHANNEL,
                ("Swell", "SubDeformer"),
                "BlendShapeChannel",
                vec![
                    leaf("DeformPercent", Value::Float(0.0)),
                    leaf("FullWeights", Value::Floats(vec![100.0])),
                ],
            ),
            object(
                "Geometry",
                SHAPE,
                ("Swell", "Geometry"),
                "Shape",
                vec![
                    leaf("Indexes", Value::Ints(vec![4])),
                    leaf("Vertices", Value::Floats(self.point([0.0, 0.25, 0.0]).into())),
                ],
            ),
            object("AnimationStack", STACK, ("Wave", "AnimStack"), "", vec![]),
            object("AnimationLayer", LAYER, ("Base", "AnimLayer"), "", vec![]),
            curve_node(MOVES, "T", lower),
            curve_node(TURNS, "R", [0.0; 3]),
            curve(ALONG, 0.0, along),
            curve(AROUND, 0.0, self.around().1),
        ]
    }

    fn geometry(&self) -> Record {
        let corners = [[-0.1, -0.1], [0.1, -0.1], [0.1, 0.1], [-0.1, 0.1]];
        let points = [-0.5, 0.5].into_iter().flat_map(|y| corners.map(|[x, z]| self.point([x, y, z])));
        // the last corner of a polygon is negative
        let faces =
            [[0, 1, 2, -4], [4, 7, 6, -6], [0, 4, 5, -2], [1, 5, 6, -3], [2, 6, 7, -4], [3, 7, 4, -1]];
        object(
            "Geometry",
            GEOMETRY,
            ("Bar", "Geometry"),
            "Mesh",
            vec![
                leaf("Vertices", Value::Floats(points.flatten().collect())),
                leaf("PolygonVertexIndex", Value::Ints(faces.concat())),
                record(
                    "LayerElementMaterial",
                    vec![Value::Int(0)],
                    vec![
                        leaf("MappingInformationType", Value::Text("AllSame")),
                        leaf("ReferenceInformationType", Value::Text("IndexToDirect")),
                        leaf("Materials", Value::Ints(vec![0])),
                    ],
                ),
                record(
                    "Layer",
                    vec![Value::Int(0)],
                    vec![record(
                        "LayerElement",
                        vec![],
                        vec![
                            leaf("Type", Value::Text("LayerElementMaterial")),
                            leaf("TypedIndex", Value::Int(0)),
                        ],
                    )],
                ),
            ],
        )
    }

    fn cluster(&self, id: i64, vertices: [i32; 4], joint: [f64; 3]) -> Record {
        object(
            "Deformer",
            id,
            ("", "SubDeformer"),
            "Cluster",
            vec![
                leaf("Indexes", Value::Ints(vertices.into())),
                leaf("Weights", Value::Floats(vec![1.0; 4])),
                leaf("Transform", Value::Floats(self.translation(joint.map(|c| -c)))),
                leaf("TransformLink", Value::Floats(self.translation(joint))),
            ],
        )
    }
}

fn object(
    kind: &'static str,
    id: i64,
    (name, class): (&'static str, &'static str),
    below: &'static str,
    records: Vec<Record>,
) -> Record {
    record(kind, vec![Value::Long(id), Value::Object(name, class), Value::Text(below)], records)
}

fn model(id: i64, name: &'static str, kind: &'static str, at: [f64; 3]) -> Record {
    let place = property("Lcl Translation", "Lcl Translation", at.map(Value::Float).into());
    object("Model", id, (name, "Model"), kind, vec![record("Properties70", vec![], vec![place])])
}

fn property(name: &'static str, kind: &'static str, values: Vec<Value>) -> Record {
    let mut all = vec![Value::Text(name), Value::Text(kind), Value::Text(""), Value::Text("A")];
    all.extend(values);
    record("P", all, Vec::new())
}

fn curve_node(id: i64, name: &'static str, values: [f64; 3]) -> Record {
    let axes = ["d|X", "d|Y", "d|Z"].into_iter().zip(values);
    let values = axes.map(|(axis, value)| property(axis, "Number", vec![Value::Float(value)])).collect();
    object(
        "AnimationCurveNode",
        id,
        (name, "AnimCurveNode"),
        "",
        vec![record("Properties70", vec![], values)],
    )
}

/// Two keys a second apart, with a straight line between them.
fn curve(id: i64, from: f64, to: f64) -> Record {
    object(
        "AnimationCurve",
        id,
        ("", "AnimCurve"),
        "",
        vec![
            leaf("Default", Value::Float(from)),
            leaf("KeyTime", Value::Longs(vec![0, SECOND])),
            leaf("KeyValueFloat", Value::Floats(vec![from, to])),
            leaf("KeyAttrFlags", Value::Ints(vec![4])),
            leaf("KeyAttrDataFloat", Value::Floats(vec![0.0; 4])),
            leaf("KeyAttrRefCount", Value::Ints(vec![2])),
        ],
    )
}

fn connections(around: &'static str) -> Vec<Record> {
    let objects = [
        (MESH, 0),
        (LOWER, 0),
        (UPPER, LOWER),
        (GEOMETRY, MESH),
        (MATERIAL, MESH),
        (SKIN, GEOMETRY),
        (LOWER_CLUSTER, SKIN),
        (UPPER_CLUSTER, SKIN),
        (LOWER, LOWER_CLUSTER),
        (UPPER, UPPER_CLUSTER),
        (BLEND, GEOMETRY),
        (CHANNEL, BLEND),
        (SHAPE, CHANNEL),
        (LAYER, STACK),
        (MOVES, LAYER),
        (TURNS, LAYER),
    ];
    let connect = |(from, to): (i64, i64)| {
        record("C", vec![Value::Text("OO"), Value::Long(from), Value::Long(to)], vec![])
    };
    let mut all: Vec<Record> = objects.into_iter().map(connect).collect();
    let properties = [
        (MOVES, LOWER, "Lcl Translation"),
        (TURNS, UPPER, "Lcl Rotation"),
        (ALONG, MOVES, "d|X"),
        (AROUND, TURNS, around),
    ];
    for (from, to, name) in properties {
        all.push(record(
            "C",
            vec![Value::Text("OP"), Value::Long(from), Value::Long(to), Value::Text(name)],
            vec![],
        ));
    }
    all
}
