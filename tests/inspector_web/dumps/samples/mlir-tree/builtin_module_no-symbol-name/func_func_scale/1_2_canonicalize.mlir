// -----// IR Dump After Canonicalizer (canonicalize) //----- //
func.func @scale(%arg0: memref<8x16xf32>, %arg1: f32) {
  %c16 = arith.constant 16 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c0 = arith.constant 0 : index
  %cst = arith.constant 2.000000e+00 : f32
  %0 = arith.mulf %arg1, %cst : f32
  scf.for %arg2 = %c0 to %c8 step %c1 {
    scf.for %arg3 = %c0 to %c16 step %c1 {
      %1 = memref.load %arg0[%arg2, %arg3] : memref<8x16xf32>
      %2 = arith.mulf %1, %0 : f32
      memref.store %2, %arg0[%arg2, %arg3] : memref<8x16xf32>
    }
  }
  return
}

