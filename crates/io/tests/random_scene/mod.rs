//! Random scene files that can be read: every table, with numbers of any bits within what its keys take.

use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;
use sinew_io::scene_schema::*;
use std::collections::BTreeMap;
use tempfile::TempDir;

const OBJ: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";

/// A folder with the meshes that random scenes name.
pub(crate) fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("a.obj", OBJ);
    write("fat.csv", "x,y,z,factor\n0.1,-0.2,0.3,1.7\n0,1e-3,-4,0.2\n");
    write("t.node", "4 3\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n");
    write("t.ele", "1 4\n0 0 1 2 3\n");
    folder
}

/// Names that need quotes, or could be mistaken for something else.
fn name() -> impl Strategy<Value = String> {
    select(vec![
        "a",
        "left arm",
        "Ärmel",
        "a \"b\" \\ c",
        "true",
        "1.5",
        "x.y",
        "[[body]]",
        "it's",
        "\u{1f41f}, b",
    ])
    .prop_map(str::to_owned)
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![-10.0..10.0, select(vec![0.0, -0.0, 1.0, 1e-300, 0.1, -123_456_789.0, 1.0 / 3.0])]
}

fn positive() -> impl Strategy<Value = f64> {
    prop_oneof![0.01..10.0, select(vec![1.0, 0.1, 1.0 / 3.0, 1e-3])]
}

fn vector() -> impl Strategy<Value = Vector> {
    [number(), number(), number()]
}

/// A place near the origin: bones that are far off are no skeleton.
fn place() -> impl Strategy<Value = Vector> {
    let coordinate = || prop_oneof![-3.0..3.0, select(vec![0.0, -0.0, 0.1, 1.0 / 3.0])];
    [coordinate(), coordinate(), coordinate()]
}

fn axis() -> impl Strategy<Value = Vector> {
    [0.1..2.0, -2.0..2.0, -2.0..2.0]
}

fn quaternion() -> impl Strategy<Value = Quaternion> {
    [0.1..1.0, -1.0..1.0, -1.0..1.0, -1.0..1.0f64]
}

fn flag() -> impl Strategy<Value = Option<bool>> {
    of(any::<bool>())
}

fn region() -> BoxedStrategy<RegionTable> {
    let side = select(vec![
        BodySide::Top,
        BodySide::Bottom,
        BodySide::Left,
        BodySide::Right,
        BodySide::Front,
        BodySide::Back,
    ]);
    let end = prop_oneof![side.prop_map(EndChoice::Side), axis().prop_map(EndChoice::Direction)];
    let none = RegionTable::default;
    prop_oneof![
        (end, of(0.01..=1.0)).prop_map(move |(end, fraction)| RegionTable {
            end: Some(end),
            fraction,
            ..none()
        }),
        (vector(), [positive(), positive(), positive()]).prop_map(move |(min, size)| {
            let max = [0, 1, 2].map(|i| min[i] + size[i]);
            RegionTable { cuboid: Some(BoxTable { min, max }), ..none() }
        }),
        (vector(), positive()).prop_map(move |(center, radius)| RegionTable {
            ball: Some(BallTable { center, radius }),
            ..none()
        }),
        vector().prop_map(move |place| RegionTable { nearest: Some(place), ..none() }),
    ]
    .boxed()
}

/// Value, slope, and both handles of a key.
type RandomKey = (f64, Option<f64>, Option<[f64; 2]>, Option<[f64; 2]>);

/// A curve through keys of every kind, with values between 0 and 1 times a factor.
fn number_curve(factor: f64) -> BoxedStrategy<CurveTable> {
    let handle = || [0.0..0.5, -1.0..1.0f64];
    let key = (0.0..1.0f64, of(-3.0..3.0), of(handle()), of(handle()));
    let kinds = vec![CurveKind::KochanekBartels, CurveKind::BSpline, CurveKind::Linear, CurveKind::Step];
    let rows =
        (vec(0.0..1.0f64, 1..4), of(select(kinds)), flag()).prop_map(move |(values, kind, is_loop)| {
            let row = |(i, value): (usize, f64)| CurveKey::Row([0.3 * i as f64, factor * value]);
            let keys = values.into_iter().enumerate().map(row).collect();
            CurveTable { keys, interpolation: kind, is_loop, snap: None }
        });
    let handles = (vec(key, 1..4), flag(), flag()).prop_map(move |(keys, is_loop, snap)| {
        let table = |(i, (value, slope, left, right)): (usize, RandomKey)| {
            // a handle of no length in time must have none in value
            let sound = |[time, value]: [f64; 2]| if time == 0.0 { [0.0, 0.0] } else { [time, value] };
            CurveKey::Table(CurveKeyTable {
                time: 0.25 + 2.0 * i as f64,
                value: factor * value,
                slope: slope.filter(|_| left.is_none() && right.is_none()),
                left: left.map(|handle| sound(handle).map(|x| -x)),
                right: right.map(sound),
            })
        };
        CurveTable {
            keys: keys.into_iter().enumerate().map(table).collect(),
            interpolation: None,
            is_loop,
            snap,
        }
    });
    prop_oneof![rows, handles].boxed()
}

/// A number from 0 to 10, or a curve of such.
fn keyed_number() -> BoxedStrategy<KeyedNumber> {
    prop_oneof![positive().prop_map(KeyedNumber::Constant), number_curve(10.0).prop_map(KeyedNumber::Curve)]
        .boxed()
}

/// A factor of stiffness, damping or friction.
fn factor() -> BoxedStrategy<KeyedNumber> {
    let curve = |[from, to]: [f64; 2]| {
        let keys = vec![CurveKey::Row([0.0, from]), CurveKey::Row([1.5, to])];
        KeyedNumber::Curve(CurveTable { keys, ..CurveTable::default() })
    };
    let range = 0.01..10.0f64;
    prop_oneof![range.clone().prop_map(KeyedNumber::Constant), [range.clone(), range].prop_map(curve)].boxed()
}

fn keyed_vector() -> BoxedStrategy<KeyedVector> {
    let component = || prop_oneof![number().prop_map(KeyedNumber::Constant), keyed_number()];
    [component(), component(), component()].boxed()
}

fn motion() -> BoxedStrategy<MotionTable> {
    let none = MotionTable::default;
    prop_oneof![
        (vector(), positive()).prop_map(move |(amplitude, frequency)| {
            MotionTable { shake: Some(ShakeTable { amplitude, frequency }), ..none() }
        }),
        (axis(), of(vector()), number()).prop_map(move |(axis, center, x)| {
            MotionTable { spin: Some(SpinTable { axis, center, rate: x.clamp(-1000.0, 1000.0) }), ..none() }
        }),
        vector().prop_map(move |velocity| MotionTable { glide: Some(GlideTable { velocity }), ..none() }),
        (of(keyed_vector()), of(keyed_vector()), of(vector())).prop_map(
            move |(translation, turns, center)| {
                MotionTable { keyed: Some(KeyedMotionTable { translation, turns, center }), ..none() }
            }
        ),
    ]
    .boxed()
}

fn material() -> BoxedStrategy<MaterialChoice> {
    let material_name =
        || select(vec!["jelly", "fat", "muscle", "rubber"]).prop_map(|name| MaterialName(name.into()));
    let table = (of(material_name()), 100.0..1e6, 0.0..0.49, 500.0..2000.0, 0.0..1.0, of(0.6..0.9)).prop_map(
        |(name, young, poisson, density, damping, lower)| MaterialTable {
            name,
            law: lower.map(|_| ElasticLaw::Stvk),
            young: Some(young),
            poisson: Some(poisson),
            density: Some(density),
            damping: Some(damping),
            stretch_limits: lower.map(|lower| [lower, 1.5]),
        },
    );
    prop_oneof![material_name().prop_map(MaterialChoice::Named), table.prop_map(MaterialChoice::Table)]
        .boxed()
}

fn pin() -> BoxedStrategy<PinTable> {
    (region(), of(motion())).prop_map(|(region, motion)| PinTable { region, motion }).boxed()
}

fn load() -> BoxedStrategy<LoadTable> {
    (region(), keyed_vector()).prop_map(|(region, force)| LoadTable { region, force }).boxed()
}

fn sag() -> impl Strategy<Value = SagMode> {
    select(vec![SagMode::RestShape, SagMode::Balanced, SagMode::Free])
}

/// Self-contact, friction and stiffness of the contacts of a body.
fn contact_keys() -> impl Strategy<Value = (Option<bool>, Option<f64>, Option<f64>)> {
    (flag(), of(positive()), of(positive()))
}

fn fabric() -> BoxedStrategy<FabricChoice> {
    let fabric_name = || select(vec!["cotton", "silk", "leather"]).prop_map(|name| FabricName(name.into()));
    let table = (of(fabric_name()), of(0.01..2.0), of(1.0..1e5), of(0.0..0.5), of(0.0..1e-2), of(0.0..10.0))
        .prop_map(|(name, areal_density, stretch, poisson, bending, damping)| FabricTable {
            name,
            areal_density,
            stretch,
            poisson,
            bending,
            damping,
        });
    prop_oneof![fabric_name().prop_map(FabricChoice::Named), table.prop_map(FabricChoice::Table)].boxed()
}

/// A muscle, on the first bone or in the world.
fn skin_muscle(on_bones: bool) -> BoxedStrategy<SkinMuscleTable> {
    let none = SkinMuscleTable::default;
    let shape = prop_oneof![
        (positive(), of(positive())).prop_map(move |(radius, length)| SkinMuscleTable {
            radius: Some(radius),
            length,
            ..none()
        }),
        ([positive(), positive(), positive()], of([0.2..2.0, 0.2..2.0])).prop_map(
            move |(radii, squareness)| { SkinMuscleTable { radii: Some(radii), squareness, ..none() } }
        ),
        Just(SkinMuscleTable { mesh: Some("a.obj".into()), cells: Some(8), ..none() }),
        (vec((place(), positive()), 1..4), of(positive())).prop_map(move |(balls, blend)| {
            let balls = balls.into_iter().map(|([x, y, z], radius)| [x, y, z, radius]);
            SkinMuscleTable { balls: Some(balls.collect()), blend, ..none() }
        }),
    ];
    let number =
        select(vec![DrivenNumber::Swell, DrivenNumber::Length, DrivenNumber::Taper, DrivenNumber::Bend]);
    let drive =
        (of(number), flag(), [positive(), positive()]).prop_map(move |(number, joint, [a, b])| DriveTable {
            number,
            joint: joint.filter(|_| on_bones).map(|_| "bone 1".into()),
            keys: vec![[0.0, a], [1.5, b]],
        });
    let placing = (of(name()), flag(), of(place()), of(quaternion()));
    let form = (of([positive(), positive(), positive()]), of(-1.0..1.0), of(-1.0..1.0), of(-1.0..1.0));
    (shape, placing, form, vec(drive, 0..2))
        .prop_map(move |(shape, (name, bone, center, rotation), (scale, taper, twist, bend), drive)| {
            SkinMuscleTable {
                name,
                bone: bone.filter(|_| on_bones).map(|_| "bone 1".into()),
                center,
                rotation,
                scale,
                taper,
                twist,
                bend,
                drive,
                ..shape
            }
        })
        .boxed()
}

/// Skin over muscles.
fn skin(on_bones: bool) -> BoxedStrategy<SkinTable> {
    let bands = (of(positive()), of(0.0..10.0), of(positive()), flag(), vec([place(), place()], 0..2))
        .prop_map(|(stiffness, damping, slack, automatic, by_hand)| BandsTable {
            stiffness,
            damping,
            slack,
            automatic,
            by_hand,
        });
    let part = (region(), of(positive()), of(positive()), of(positive()), of(positive())).prop_map(
        |(region, mass, elasticity, fat, slack)| SkinPartTable {
            region,
            mass,
            elasticity,
            fat,
            slack,
            ..SkinPartTable::default()
        },
    );
    let fixed = region().prop_map(|region| FixedSkinTable { region, bone: "bone 1".into() });
    let fixed = vec(fixed, if on_bones { 0..2 } else { 0..1 });
    let sheet = (of(positive()), of(positive()), of(0.0..0.5), of(positive()), of(0.0..5.0));
    let rest = (of(0.0..2.0), of(-1.0..1.0), flag(), of(positive()), of(positive()));
    let fat = (of(positive()), of(positive()), of(positive()), flag(), of(Just("fat.csv".to_owned())));
    let weights = of((axis(), [positive(), positive(), positive()]));
    (sheet, rest, fat, weights, of(bands), (vec(skin_muscle(on_bones), 0..3), vec(part, 0..2), fixed))
        .prop_map(|(sheet, rest, fat, weights, bands, (muscle, part, fixed))| {
            let (areal_density, stretch, poisson, bending, damping) = sheet;
            let (rest_length, rest_curvature, even_points, pressure, _) = rest;
            let (fat, return_rate, friction, feedback, fat_points) = fat;
            SkinTable {
                areal_density,
                stretch,
                poisson,
                bending,
                damping,
                rest_length,
                rest_curvature,
                even_points,
                pressure,
                fat,
                fat_points,
                return_rate,
                friction,
                feedback,
                direction: weights.map(|(direction, _)| direction),
                weights: weights.map(|(_, weights)| weights),
                bands,
                muscle,
                part,
                fixed,
                ..SkinTable::default()
            }
        })
        .boxed()
}

/// What the mesh of a body is made into.
fn kind() -> BoxedStrategy<BodyTable> {
    let of_kind = |kind| BodyTable { kind: Some(kind), ..BodyTable::default() };
    let elements = || of(select(vec![SheetElements::Triangles, SheetElements::Springs]));
    prop_oneof![
        Just(BodyTable::default()),
        Just(of_kind(BodyKind::Flesh)),
        Just(of_kind(BodyKind::Solid)),
        (of(positive()), elements()).prop_map(move |(thickness, elements)| BodyTable {
            thickness,
            elements,
            ..of_kind(BodyKind::Shell)
        }),
        skin(false).prop_map(move |skin| BodyTable { skin: Some(skin), ..of_kind(BodyKind::Skin) }),
        (of(fabric()), of(positive()), elements()).prop_map(move |(fabric, thickness, elements)| BodyTable {
            fabric,
            thickness,
            elements,
            ..of_kind(BodyKind::Cloth)
        }),
    ]
    .boxed()
}

/// A body, whose name is given by its place.
fn body() -> BoxedStrategy<BodyTable> {
    let shape = prop_oneof![
        (of(1usize..20_000), of(positive())).prop_map(|(tets, edge)| BodyTable {
            surface: Some("a.obj".into()),
            cage_tets: tets,
            cage_edge: edge.filter(|_| tets.is_none()),
            ..BodyTable::default()
        }),
        Just(BodyTable { tets: Some("t.ele".into()), ..BodyTable::default() }),
    ];
    let placing = (of(positive()), of(vector()), of(vector()), contact_keys());
    let held = (vec(pin(), 0..3), vec(load(), 0..2), of(sag()), of(keyed_number()));
    let factors = (of(factor()), of(factor()), of(factor()));
    (shape, kind(), placing, of(material()), held, factors)
        .prop_map(|(shape, kind, (scale, translate, velocity, contact), material, held, factors)| {
            let (stiffness_factor, damping_factor, friction_factor) = factors;
            let (pin, load, sag, air_drag) = held;
            let (self_contact, friction, contact_stiffness) = contact;
            let BodyTable { kind, fabric, elements, thickness, skin, .. } = kind;
            // skin needs a surface
            let has_skin = skin.is_some() && shape.surface.is_some();
            let kind = kind.filter(|kind| *kind != BodyKind::Skin || has_skin);
            let skin = skin.filter(|_| has_skin);
            BodyTable {
                scale,
                translate,
                velocity,
                self_contact,
                friction,
                contact_stiffness,
                material,
                pin,
                load,
                sag,
                air_drag,
                stiffness_factor,
                damping_factor,
                friction_factor,
                kind,
                fabric,
                elements,
                thickness,
                skin,
                ..shape
            }
        })
        .boxed()
}

fn joint() -> BoxedStrategy<BoneTable> {
    let with = |joint, axis| BoneTable { joint: Some(joint), axis, ..BoneTable::default() };
    let plain = select(vec![JointType::Fixed, JointType::Ball, JointType::Free]);
    let turning =
        select(vec![JointType::Revolute, JointType::Prismatic, JointType::Cylindrical, JointType::Planar]);
    prop_oneof![
        plain.prop_map(move |joint| with(joint, None)),
        (turning, axis()).prop_map(move |(joint, axis)| with(joint, Some(axis))),
        axis().prop_map(move |axis| BoneTable {
            second_axis: Some([-axis[1], axis[0], axis[2]]),
            ..with(JointType::Universal, Some(axis))
        }),
        (axis(), [-3.0..0.0, 0.0..3.0], positive(), positive()).prop_map(
            move |(axis, limits, stiffness, stop)| {
                BoneTable {
                    limits: Some(limits),
                    stiffness: Some(stiffness),
                    spring_rest: Some(0.5 * limits[0]),
                    stop_stiffness: Some(stop),
                    stop_damping: Some(0.1),
                    damping: Some(0.2),
                    armature: Some(0.01),
                    ..with(JointType::Revolute, Some(axis))
                }
            }
        ),
    ]
    .boxed()
}

/// A bone, whose name and parent are given by its place.
fn bone() -> BoxedStrategy<BoneTable> {
    let begin = prop_oneof![place().prop_map(|p| (Some(p), None)), place().prop_map(|p| (None, Some(p)))];
    let end = prop_oneof![axis().prop_map(|p| (Some(p), None)), axis().prop_map(|p| (None, Some(p)))];
    let mass = prop_oneof![
        (positive(), of(100.0..2000.0)).prop_map(|(radius, density)| (Some(radius), density, None)),
        (positive(), place(), [1.0..2.0, 1.0..2.0, 1.0..2.0, 0.0..0.1, 0.0..0.1, 0.0..0.1])
            .prop_map(|(mass, center, inertia)| (None, None, Some((mass, center, inertia)))),
    ];
    (joint(), begin, end, mass, of(quaternion()), flag())
        .prop_map(|(joint, (from, offset), (to, tip), (radius, density, given), rotation, motion_only)| {
            BoneTable {
                from,
                offset,
                to,
                tip,
                rotation,
                radius,
                density,
                mass: given.map(|(mass, ..)| mass),
                center: given.map(|(_, center, _)| center),
                inertia: given.map(|(.., inertia)| inertia),
                motion_only,
                ..joint
            }
        })
        .boxed()
}

fn tie() -> BoxedStrategy<TieTable> {
    let none = TieTable::default;
    prop_oneof![
        number().prop_map(move |x| TieTable { inside: Some(x.clamp(-1000.0, 1000.0)), ..none() }),
        positive().prop_map(move |x| TieTable { near: Some(x), ..none() }),
        region().prop_map(move |region| TieTable {
            bone: Some("bone 1".into()),
            region: Some(region),
            ..none()
        }),
        vec(0u32..100, 0..4).prop_map(move |nodes| TieTable {
            bone: Some("bone 1".into()),
            nodes: Some(nodes),
            ..none()
        }),
    ]
    .boxed()
}

fn cue() -> BoxedStrategy<CueTable> {
    let bones = prop_oneof![
        Just(None),
        Just(Some(BoneChoice::Group(BoneGroup::Roots))),
        Just(Some(BoneChoice::Named(vec!["bone 1".into()]))),
    ];
    let drives = vec![
        JointDriver::Motion,
        JointDriver::Limp,
        JointDriver::Reach,
        JointDriver::Servo,
        JointDriver::Direct,
    ];
    let driven = (bones, select(drives)).prop_map(|(bones, drive)| CueTable {
        bones,
        drive: Some(drive),
        ..CueTable::default()
    });
    // the first bone has a ball joint
    let turned = keyed_vector().prop_map(|torque| CueTable {
        bones: Some(BoneChoice::Named(vec!["bone 1".into()])),
        torque: Some(torque.to_vec()),
        ..CueTable::default()
    });
    (0.0..10.0, prop_oneof![4 => driven, 1 => turned])
        .prop_map(|(time, cue)| CueTable { time, ..cue })
        .boxed()
}

/// A goal, whose name is given by its place.
fn goal() -> BoxedStrategy<GoalTable> {
    let rows = |x: [f64; 3]| Some(vec![[0.0, x[0], x[1], x[2]], [1.5, x[2], x[0], x[1]]]);
    let point = prop_oneof![
        of(vector()).prop_map(|point| (Some("bone 1".to_owned()), point, None)),
        vector().prop_map(|skin| (None, None, Some(skin))),
    ];
    let target = prop_oneof![
        vector().prop_map(|place| (Some(place), None)),
        vector().prop_map(move |at| (None, rows(at))),
    ];
    let turns = of(vector()).prop_map(move |turn| turn.and_then(rows));
    let times = (of(0.0..3.0), of(3.0..9.0), of(0usize..9), of(positive()));
    (point, target, turns, of(curve()), flag(), times)
        .prop_map(|((bone, point, skin), (place, path), turns, interpolation, is_loop, times)| GoalTable {
            bone,
            point,
            skin,
            place,
            path,
            turns,
            interpolation,
            is_loop,
            begin: times.0,
            end: times.1,
            priority: times.2,
            reach_time: times.3,
            blend: times.3,
            ..GoalTable::default()
        })
        .boxed()
}

fn curve() -> impl Strategy<Value = Curve> {
    select(vec![Curve::KochanekBartels, Curve::BSpline, Curve::Linear, Curve::Step])
}

/// Poses of the first bone, which has a ball joint.
fn keys() -> BoxedStrategy<Vec<KeyTable>> {
    let key = ([-50.0..50.0, -50.0..50.0, -50.0..50.0f64], of(-1.0..1.0));
    vec(key, 0..3)
        .prop_map(|keys| {
            let table = |(i, (angles, tension)): (usize, ([f64; 3], Option<f64>))| KeyTable {
                time: 0.3 * i as f64,
                pose: Some(BTreeMap::from([("bone 1".to_owned(), Coordinates::List(angles.to_vec()))])),
                tension,
                ..KeyTable::default()
            };
            keys.into_iter().enumerate().map(table).collect()
        })
        .boxed()
}

/// A character, whose name is given by its place.
fn character() -> BoxedStrategy<CharacterTable> {
    let flesh =
        (of(material()), flag(), of(sag()), of(positive()), of(positive()), contact_keys(), of(vector()));
    let performance =
        (keys(), of(curve()), flag(), vec(cue(), 0..3), of(0.0..3.0), of(0.0..3.0), of(0.0..1.0));
    let modes = vec![
        DriveMode::OneWay,
        DriveMode::TwoWay,
        DriveMode::Ragdoll,
        DriveMode::Reach,
        DriveMode::Servo,
        DriveMode::Direct,
    ];
    let directed = (of(select(modes)), vec(goal(), 0..3), of(positive()));
    let flesh = (flesh, (of(factor()), of(factor()), of(factor())));
    (vec(bone(), 1..5), vec(tie(), 0..3), vec(pin(), 0..2), flesh, performance, directed)
        .prop_map(|(mut bone, tie, pin, flesh, performance, (mode, mut goal, max_torque))| {
            goal.iter_mut().enumerate().for_each(|(i, goal)| goal.name = Some(format!("goal {i}")));
            for (i, bone) in bone.iter_mut().enumerate() {
                bone.name = format!("bone {}", i + 1);
                // some hang from a bone that comes further down
                bone.parent = (i > 0).then(|| format!("bone {}", 1 + i / 2));
            }
            let axes = BoneTable { joint: None, axis: None, second_axis: None, ..bone[0].clone() };
            let springs =
                BoneTable { limits: None, spring_rest: None, stiffness: None, stop_stiffness: None, ..axes };
            bone[0] = BoneTable { joint: Some(JointType::Ball), ..springs };
            let (flesh, (stiffness_factor, damping_factor, friction_factor)) = flesh;
            let (material, anchored, sag, core_stiffness, core_reach, contact, velocity) = flesh;
            let (self_contact, friction, contact_stiffness) = contact;
            let (key, interpolation, is_loop, cue, preroll_approach, preroll_hold, return_time) = performance;
            CharacterTable {
                motion: (!key.is_empty()).then(|| BoneMotionTable {
                    interpolation,
                    is_loop,
                    ..BoneMotionTable::default()
                }),
                bone,
                tie,
                pin,
                material,
                anchored,
                sag,
                core_stiffness,
                core_reach,
                stiffness_factor,
                damping_factor,
                friction_factor,
                self_contact,
                friction,
                contact_stiffness,
                velocity,
                key,
                cue,
                preroll_approach,
                preroll_hold,
                return_time,
                mode,
                goal,
                max_torque,
                surface: Some("a.obj".into()),
                ..CharacterTable::default()
            }
        })
        .boxed()
}

fn obstacle() -> BoxedStrategy<ObstacleTable> {
    let none = ObstacleTable::default;
    let file = || Some("a.obj".to_owned());
    let shape = prop_oneof![
        axis().prop_map(move |normal| ObstacleTable { plane: Some(normal), ..none() }),
        positive().prop_map(move |radius| ObstacleTable { sphere: Some(radius), ..none() }),
        [positive(), positive(), positive()]
            .prop_map(move |sides| ObstacleTable { cuboid: Some(sides), ..none() }),
        [positive(), positive()].prop_map(move |sizes| ObstacleTable { capsule: Some(sizes), ..none() }),
        [positive(), positive()].prop_map(move |sizes| ObstacleTable { cylinder: Some(sizes), ..none() }),
        of(positive()).prop_map(move |scale| ObstacleTable { hull: file(), scale, ..none() }),
        of(positive()).prop_map(move |scale| ObstacleTable { mesh: file(), scale, ..none() }),
        (4usize..9).prop_map(move |cells| ObstacleTable { grid: file(), cells: Some(cells), ..none() }),
        ([number(), number(), number(), number()], positive()).prop_map(move |(heights, spacing)| {
            ObstacleTable {
                heights: Some(heights.to_vec()),
                columns: Some(2),
                spacing: Some(spacing),
                ..none()
            }
        }),
    ];
    let rotation =
        prop_oneof![of(vector()).prop_map(|turn| (turn, None)), quaternion().prop_map(|q| (None, Some(q)))];
    (shape, rotation, of(vector()), of(motion()), (of(positive()), of(positive()), flag(), of(factor())))
        .prop_map(|(shape, (turn, rotation), position, motion, surface)| {
            let (friction, stiffness, glass, friction_factor) = surface;
            ObstacleTable {
                turn,
                rotation,
                position,
                mobility: motion.as_ref().map_or(glass.map(|_| ObstacleMobility::Kinematic), |_| None),
                motion,
                friction,
                friction_factor,
                stiffness,
                glass,
                ..shape
            }
        })
        .boxed()
}

/// A ball that flies.
fn dynamic_obstacle() -> BoxedStrategy<ObstacleTable> {
    (positive(), positive(), of(vector()), of(vector()))
        .prop_map(|(radius, density, velocity, spin)| ObstacleTable {
            sphere: Some(radius),
            density: Some(density),
            velocity,
            spin,
            ..ObstacleTable::default()
        })
        .boxed()
}

/// A constraint between the first body and the first obstacle.
fn constraint() -> BoxedStrategy<ConstraintTable> {
    let none = ConstraintTable::default;
    let of_body = || PointTable { body: Some("body 1".into()), ..PointTable::default() };
    let point = move || {
        prop_oneof![
            vector().prop_map(move |place| PointTable { surface: Some(place), ..of_body() }),
            vector().prop_map(move |place| PointTable { inside: Some(place), ..of_body() }),
            region().prop_map(move |region| PointTable { region: Some(region), ..of_body() }),
        ]
    };
    let on_obstacle = of(vector()).prop_map(|place| PointTable {
        obstacle: Some("obstacle 1".into()),
        place,
        ..PointTable::default()
    });
    let rows = || {
        let rows = vec(0.0..=1.0f64, 1..4).prop_map(|values| {
            KeyRows::Rows(values.into_iter().enumerate().map(|(i, value)| [0.25 * i as f64, value]).collect())
        });
        prop_oneof![rows, number_curve(1.0).prop_map(KeyRows::Curve)]
    };
    let path = vec(vector(), 1..4).prop_map(|places| {
        places.into_iter().enumerate().map(|(i, [x, y, z])| [0.5 * i as f64, x, y, z]).collect::<Vec<_>>()
    });
    let kind = prop_oneof![
        (point(), of(vector()), of(motion())).prop_map(move |(point, place, motion)| ConstraintTable {
            drag: Some(point),
            place,
            motion,
            ..none()
        }),
        (point(), path, of(vector())).prop_map(move |(point, path, place)| ConstraintTable {
            pin: Some(point),
            path: Some(path),
            place,
            ..none()
        }),
        (point(), on_obstacle, of(positive()), flag()).prop_map(move |(a, b, length, rope)| {
            ConstraintTable { join: Some(vec![a, b]), length, rope, ..none() }
        }),
        (vector(), axis(), of(positive()), of(rows())).prop_map(move |(center, axis, length, lengths)| {
            ConstraintTable {
                belt: Some(BeltTable { body: "body 1".into(), center, axis }),
                length,
                lengths,
                ..none()
            }
        }),
    ];
    (kind, of(rows()), of(curve()), flag(), (of(positive()), of(positive()), flag()))
        .prop_map(|(kind, strengths, interpolation, is_loop, (stiffness, damping, exact))| {
            // only points with a target hold exactly, and have no spring then
            let exact = exact.filter(|_| kind.join.is_none() && kind.belt.is_none());
            let is_exact = exact == Some(true);
            ConstraintTable {
                strengths,
                interpolation,
                is_loop,
                stiffness: stiffness.filter(|_| !is_exact),
                damping: damping.filter(|_| !is_exact),
                exact,
                ..kind
            }
        })
        .boxed()
}

/// A metaphor on the first body.
fn metaphor() -> BoxedStrategy<MetaphorTable> {
    let kinds =
        vec![MetaphorChoice::Stretch, MetaphorChoice::Bend, MetaphorChoice::Twist, MetaphorChoice::Push];
    let directions = (of(vector()), of(axis()), of(axis()));
    let distances = (of(positive()), of(positive()), of(positive()));
    (select(kinds), of(keyed_number()), directions, distances, flag(), flag())
        .prop_map(|(kind, magnitude, (origin, axis, normal), (near, far, radius), net, cone)| MetaphorTable {
            body: "body 1".into(),
            kind,
            magnitude,
            origin,
            axis,
            normal,
            near,
            far,
            radius,
            net,
            frame: cone.map(|_| FrameChoice::Cone),
            ..MetaphorTable::default()
        })
        .boxed()
}

/// A muscle of the first body.
fn muscle() -> BoxedStrategy<MuscleTable> {
    let end = || {
        (vector(), of(positive())).prop_map(|(place, radius)| MuscleEndTable { place, radius, bone: None })
    };
    let curve = (of(positive()), of(0.5..2.0), of(0.0..3.0));
    let activation = prop_oneof![
        (0.0..1.0f64).prop_map(KeyedNumber::Constant),
        [0.0..1.0f64, 0.0..1.0].prop_map(|[from, to]| {
            let keys = vec![CurveKey::Row([0.0, from]), CurveKey::Row([1.5, to])];
            KeyedNumber::Curve(CurveTable { keys, ..CurveTable::default() })
        }),
    ];
    let tissue = prop_oneof![
        Just((None, None, Some(false))),
        (of(positive()), of(0.1..0.49)).prop_map(|(young, poisson)| (young, poisson, None)),
    ];
    (of((end(), end(), of(positive()))), of(axis()), curve, of(activation), tissue)
        .prop_map(|(ends, fibres, (stress, optimal, passive), activation, (young, poisson, own_tissue))| {
            let (origin, insertion, radius) =
                ends.map_or((None, None, None), |(a, b, radius)| (Some(a), Some(b), radius));
            MuscleTable {
                body: Some("body 1".into()),
                origin,
                insertion,
                radius,
                fibres,
                stress,
                optimal,
                passive,
                activation,
                young,
                poisson,
                own_tissue,
                ..MuscleTable::default()
            }
        })
        .boxed()
}

fn contact() -> BoxedStrategy<ContactTable> {
    (of(positive()), of(positive()), flag(), of(1e-4..0.1))
        .prop_map(|(friction, stiffness, bodies, longest_step)| ContactTable {
            friction,
            stiffness,
            bodies,
            longest_step,
        })
        .boxed()
}

fn solver() -> BoxedStrategy<SolverTable> {
    let settings =
        (of(select(vec![Accuracy::Interactive, Accuracy::Accurate])), of(1e-9..1.0), of(1usize..200));
    (
        select(vec![SolverChoice::Implicit, SolverChoice::Auto]),
        settings,
        of(1usize..9),
        (
            of(1usize..3),
            of(select(vec![ContactChoice::Auto, ContactChoice::Springs, ContactChoice::Barrier])),
            of(select(vec![ExactChoice::Projection, ExactChoice::Multipliers])),
        ),
        of(positive()),
    )
        .prop_map(|(kind, (accuracy, tolerance, max_newton), substeps, (order, contact, exact), budget)| {
            SolverTable {
                kind: Some(kind),
                accuracy,
                tolerance,
                max_newton,
                max_inner: max_newton.map(|most| 2 * most),
                substeps,
                order,
                contact,
                exact,
                budget,
            }
        })
        .boxed()
}

/// An edit with one change of what every random scene has.
fn edit() -> BoxedStrategy<EditTable> {
    let none = EditTable::default;
    let of_body = |change: BodyEditTable| EditTable {
        body: vec![BodyEditTable { name: "body 1".into(), ..change }],
        ..EditTable::default()
    };
    let body = BodyEditTable::default;
    let change = prop_oneof![
        keyed_vector().prop_map(move |gravity| EditTable { gravity: Some(gravity), ..none() }),
        material().prop_map(move |material| of_body(BodyEditTable { material: Some(material), ..body() })),
        vec(load(), 0..2).prop_map(move |load| of_body(BodyEditTable { load: Some(load), ..body() })),
        keyed_number().prop_map(move |rate| of_body(BodyEditTable { air_drag: Some(rate), ..body() })),
        factor().prop_map(move |own| of_body(BodyEditTable { stiffness_factor: Some(own), ..body() })),
        factor().prop_map(move |own| of_body(BodyEditTable { damping_factor: Some(own), ..body() })),
        factor().prop_map(move |own| of_body(BodyEditTable { friction_factor: Some(own), ..body() })),
        (positive(), of(factor())).prop_map(move |(friction, friction_factor)| {
            let (name, friction) = ("obstacle 1".into(), friction_factor.is_none().then_some(friction));
            let obstacle =
                ObstacleEditTable { name, friction, friction_factor, ..ObstacleEditTable::default() };
            EditTable { obstacle: vec![obstacle], ..none() }
        }),
        constraint().prop_map(move |constraint| {
            let constraint = ConstraintTable { name: Some("of an edit".into()), ..constraint };
            EditTable { constraint: vec![constraint], ..none() }
        }),
        metaphor().prop_map(move |metaphor| {
            let metaphor = MetaphorTable { name: Some("of an edit".into()), ..metaphor };
            EditTable { metaphor: vec![metaphor], ..none() }
        }),
        contact().prop_map(move |contact| EditTable { contact: Some(contact), ..none() }),
        solver().prop_map(move |solver| EditTable { solver: Some(solver), ..none() }),
    ];
    (0.0..100.0, change).prop_map(|(time, change)| EditTable { time, ..change }).boxed()
}

/// Any scene file that can be read from the folder of [`folder`].
pub(crate) fn scene_file() -> impl Strategy<Value = SceneFile> {
    let up = of(select(vec![UpAxis::Y, UpAxis::Z]));
    let angles = of(select(vec![AngleUnit::Degrees, AngleUnit::Radians]));
    let top = (of(0.01..100.0), of(1.0..240.0), up, of(keyed_vector()), angles, of(0.0..10.0));
    let tables =
        (vec((name(), body()), 1..3), vec(character(), 0..3), vec(obstacle(), 1..3), of(dynamic_obstacle()));
    let forces = (vec(constraint(), 0..3), vec(metaphor(), 0..3), vec(muscle(), 0..3));
    (top, tables, forces, of(contact()), of(solver()), vec(edit(), 0..3)).prop_map(
        |(
            (seconds, fps, up, gravity, angles, preroll),
            tables,
            (constraint, metaphor, muscle),
            contact,
            solver,
            edit,
        )| {
            let (bodies, mut character, mut obstacle, dynamic) = tables;
            let mut body: Vec<BodyTable> = bodies
                .into_iter()
                .enumerate()
                .map(|(i, (name, body))| BodyTable { name: Some(format!("{name} {i}")), ..body })
                .collect();
            body[0].name = Some("body 1".into());
            character
                .iter_mut()
                .enumerate()
                .for_each(|(i, table)| table.name = Some(format!("character {i}")));
            obstacle.extend(dynamic);
            obstacle[0].name = Some("obstacle 1".into());
            SceneFile {
                seconds,
                fps,
                up,
                gravity,
                angles,
                preroll,
                body,
                character,
                obstacle,
                contact,
                constraint,
                metaphor,
                muscle,
                solver,
                edit,
            }
        },
    )
}
