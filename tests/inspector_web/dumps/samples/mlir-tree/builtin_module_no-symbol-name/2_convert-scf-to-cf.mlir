// -----// IR Dump After SCFToControlFlow (convert-scf-to-cf) //----- //
module {
  func.func @scale(%arg0: memref<8x16xf32>, %arg1: f32) {
    %c16 = arith.constant 16 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c0 = arith.constant 0 : index
    %cst = arith.constant 2.000000e+00 : f32
    %0 = arith.mulf %arg1, %cst : f32
    cf.br ^bb1(%c0 : index)
  ^bb1(%1: index):  // 2 preds: ^bb0, ^bb5
    %2 = arith.cmpi slt, %1, %c8 : index
    cf.cond_br %2, ^bb2, ^bb6
  ^bb2:  // pred: ^bb1
    cf.br ^bb3(%c0 : index)
  ^bb3(%3: index):  // 2 preds: ^bb2, ^bb4
    %4 = arith.cmpi slt, %3, %c16 : index
    cf.cond_br %4, ^bb4, ^bb5
  ^bb4:  // pred: ^bb3
    %5 = memref.load %arg0[%1, %3] : memref<8x16xf32>
    %6 = arith.mulf %5, %0 : f32
    memref.store %6, %arg0[%1, %3] : memref<8x16xf32>
    %7 = arith.addi %3, %c1 : index
    cf.br ^bb3(%7 : index)
  ^bb5:  // pred: ^bb3
    %8 = arith.addi %1, %c1 : index
    cf.br ^bb1(%8 : index)
  ^bb6:  // pred: ^bb1
    return
  }
  func.func @dot(%arg0: memref<8xf32>, %arg1: memref<8xf32>) -> f32 {
    %cst = arith.constant 0.000000e+00 : f32
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c1 = arith.constant 1 : index
    cf.br ^bb1(%c0, %cst : index, f32)
  ^bb1(%0: index, %1: f32):  // 2 preds: ^bb0, ^bb2
    %2 = arith.cmpi slt, %0, %c8 : index
    cf.cond_br %2, ^bb2, ^bb3
  ^bb2:  // pred: ^bb1
    %3 = memref.load %arg0[%0] : memref<8xf32>
    %4 = memref.load %arg1[%0] : memref<8xf32>
    %5 = arith.mulf %3, %4 : f32
    %6 = arith.addf %1, %5 : f32
    %7 = arith.addi %0, %c1 : index
    cf.br ^bb1(%7, %6 : index, f32)
  ^bb3:  // pred: ^bb1
    return %1 : f32
  }
}


