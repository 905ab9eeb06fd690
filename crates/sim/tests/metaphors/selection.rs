//! Faults of metaphors: what they select, and what messages say.

use crate::bodies::{cylinder, on_all, world};
use sinew_math::Vec3;
use sinew_sim::desc::{MetaphorDesc, MetaphorKind, PinDesc, Region, WidgetDesc};
use sinew_sim::{Model, WorldDesc};

fn fault(desc: MetaphorDesc) -> String {
    let built = Model::build(&WorldDesc { metaphors: vec![desc], ..world(cylinder()) });
    built.err().map_or_else(String::new, |error| error.to_string())
}

fn widget(change: impl Fn(&mut WidgetDesc)) -> MetaphorDesc {
    let mut desc = on_all(MetaphorKind::Stretch);
    change(&mut desc.widget);
    desc
}

#[test]
fn a_metaphor_that_selects_no_nodes_says_so_and_where_they_are() {
    let message = fault(widget(|own| own.near = Some(0.3)));
    for part in [
        "metaphor 'all'",
        "left part selects no nodes",
        "reach from -0.2",
        "near = 0.3000 m",
        "move its origin",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
    let message = fault(widget(|own| own.origin = Some(Vec3::new(1.0, 0.0, 0.0))).clone());
    assert!(message.is_empty(), "an unlimited radius reaches the body: {message}");
    let message = fault(widget(|own| {
        own.origin = Some(Vec3::new(1.0, 0.0, 0.0));
        own.radius = Some(0.1);
    }));
    assert!(message.contains("the nearest is 0.9"), "{message}");
}

#[test]
fn faulty_widgets_are_rejected() {
    let messages = [
        (fault(widget(|own| own.axis = Some(Vec3::zeros()))), "axis [0.0, 0.0, 0.0] is zero"),
        (fault(widget(|own| own.normal = Some(Vec3::y()))), "normal is parallel"),
        (fault(widget(|own| own.radius = Some(-1.0))), "radius is -1 m"),
        (fault(widget(|own| (own.near, own.far) = (Some(0.2), Some(0.1)))), "near = 0.2 m and far = 0.1 m"),
        (
            fault(MetaphorDesc { body: "bunny".into(), ..on_all(MetaphorKind::Bend) }),
            "body 'bunny', which does not exist: there is body",
        ),
        (fault(MetaphorDesc::new("push", "body", MetaphorKind::Push)), "no direction to push in"),
    ];
    for (message, part) in messages {
        assert!(message.contains(part), "{part}: {message}");
    }
}

#[test]
fn nodes_that_nothing_moves_are_not_selected() {
    let mut body = cylinder();
    body.pins.push(PinDesc { region: Region::End { direction: Vec3::y(), fraction: 0.4 } });
    let desc = on_all(MetaphorKind::Stretch);
    let built = Model::build(&WorldDesc { metaphors: vec![desc], ..world(body) });
    let message = built.expect_err("a fault").to_string();
    assert!(message.contains("right part are pinned or fixed to bones"), "{message}");
}

#[test]
fn names_are_unique() {
    let desc = on_all(MetaphorKind::Twist);
    let built = Model::build(&WorldDesc { metaphors: vec![desc.clone(), desc], ..world(cylinder()) });
    assert!(built.expect_err("a fault").to_string().contains("two metaphors have this name"));
}
