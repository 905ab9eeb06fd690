//! Bodies of points that are connected by membrane triangles, hinges and springs: cloth, shells, and spring networks.   \[Transue2014, III\]
//!
//! Their coordinates are their points. [`Network`] holds the elements, [`NetworkEnergy`] evaluates them in time stepping; `sheet` builds those of triangle meshes, `solid` those of tet meshes.

mod highest_frequency;
mod network_energy;
mod node_sums;
mod sheet;
mod solid;

pub(crate) use network_energy::NetworkEnergy;
pub(crate) use sheet::{Sheet, SheetPoints, fine_surface};
pub(crate) use solid::tet_springs;

use crate::body_kind::{CustomKind, PartDamping};
use crate::node_energy::NodeEnergy;
use sinew_flesh::network::{Bending, Membrane, Spring};
use std::sync::Arc;

/// The elements of a body.
#[derive(Clone, Debug, Default)]
pub(crate) struct Network {
    pub(crate) node_count: usize,
    pub(crate) membranes: Vec<Membrane>,
    pub(crate) springs: Vec<Spring>,
    pub(crate) bending: Bending,
    /// β (s)
    pub(crate) viscosity: f64,
    /// Rate at which motion beside rigid motion decays (1/s).
    pub(crate) damping_rate: f64,
    /// Thickness in contact (m); none for solids.
    pub(crate) thickness: Option<f64>,
}

/// A network as the kind of a body.
#[derive(Clone, Debug)]
pub(crate) struct NetworkBody(pub(crate) Arc<Network>);

impl Network {
    /// Pairs of nodes that elements connect.
    fn links(&self) -> impl Iterator<Item = [u32; 2]> + '_ {
        let triangles = self.membranes.iter().flat_map(|own| {
            let [a, b, c] = own.nodes;
            [[a, b], [b, c]]
        });
        triangles.chain(self.springs.iter().map(|spring| spring.nodes))
    }
}

impl CustomKind for NetworkBody {
    fn energy(&self) -> Option<Box<dyn NodeEnergy + Send + Sync>> {
        Some(Box::new(NetworkEnergy::new(self.0.clone())))
    }

    fn damping(&self) -> Option<PartDamping> {
        Some(PartDamping { links: self.0.links().collect(), rate: self.0.damping_rate })
    }

    fn takes_factors(&self) -> bool {
        true
    }

    fn thickness(&self) -> Option<f64> {
        self.0.thickness
    }
}
