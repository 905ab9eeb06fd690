"""Points of every mesh of a USD file over time, as OpenUSD reads them: one line of numbers for each frame."""
import sys
from pxr import Usd, UsdGeom

stage = Usd.Stage.Open(sys.argv[1])
meshes = [UsdGeom.Mesh(prim) for prim in stage.Traverse() if prim.IsA(UsdGeom.Mesh)]
times = sorted({time for mesh in meshes for time in mesh.GetPointsAttr().GetTimeSamples()})
for time in times:
    points = [x for mesh in meshes for point in mesh.GetPointsAttr().Get(time) for x in point]
    print(" ".join(repr(float(x)) for x in points))
