"""Normals, texture coordinates and materials of a USD file as OpenUSD reads them, as JSON: one object for each mesh."""
import json
import os
import sys
from pxr import Usd, UsdGeom, UsdShade

stage = Usd.Stage.Open(sys.argv[1])


def textures(material):
    """The image and the coordinates of each input of a material that has one."""
    surface = material.ComputeSurfaceSource()[0]
    found = {}
    for entry in surface.GetInputs():
        source = entry.GetConnectedSources()[0]
        if not source:
            found[entry.GetBaseName()] = entry.Get() if isinstance(entry.Get(), float) else list(entry.Get())
            continue
        texture = UsdShade.Shader(source[0].source.GetPrim())
        reader = UsdShade.Shader(texture.GetInput("st").GetConnectedSources()[0][0].source.GetPrim())
        path = texture.GetInput("file").Get().resolvedPath
        found[entry.GetBaseName()] = {
            "exists": os.path.isfile(path),
            "file": os.path.basename(path),
            "channel": source[0].sourceName,
            "primvar": reader.GetInput("varname").Get(),
        }
    return found


meshes = []
for prim in stage.Traverse():
    if not prim.IsA(UsdGeom.Mesh):
        continue
    mesh = UsdGeom.Mesh(prim)
    uv = UsdGeom.PrimvarsAPI(prim).GetPrimvar("st")
    bound = [subset.GetPrim() for subset in UsdShade.MaterialBindingAPI(prim).GetMaterialBindSubsets()] or [prim]
    materials = [UsdShade.MaterialBindingAPI(part).ComputeBoundMaterial()[0] for part in bound]
    times = mesh.GetNormalsAttr().GetTimeSamples()
    meshes.append({
        "name": prim.GetName(),
        "points": len(mesh.GetPointsAttr().Get()),
        "faces": len(mesh.GetFaceVertexCountsAttr().Get()),
        "subset_faces": sum(len(UsdGeom.Subset(part).GetIndicesAttr().Get()) for part in bound if part != prim),
        "normals": [x for normal in mesh.GetNormalsAttr().Get(times[-1]) for x in normal],
        "normal_interpolation": mesh.GetNormalsInterpolation(),
        "normal_samples": len(times),
        "uvs": [x for pair in uv.Get() for x in pair] if uv.HasValue() else [],
        "uv_interpolation": uv.GetInterpolation() if uv.HasValue() else None,
        "materials": [{"name": m.GetPrim().GetName(), "inputs": textures(m)} for m in materials if m],
    })
print(json.dumps(meshes))
