// -----// IR Dump After AffineLoopInvariantCodeMotion (affine-loop-invariant-code-motion) //----- //
func.func @scale(%arg0: memref<8x16xf32>, %arg1: f32) {
  %cst = arith.constant 2.000000e+00 : f32
  %0 = arith.mulf %arg1, %cst : f32
  affine.for %arg2 = 0 to 8 {
    affine.for %arg3 = 0 to 16 {
      %1 = affine.load %arg0[%arg2, %arg3] : memref<8x16xf32>
      %2 = arith.mulf %1, %0 : f32
      affine.store %2, %arg0[%arg2, %arg3] : memref<8x16xf32>
    }
  }
  return
}

