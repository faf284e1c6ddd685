// The part of onnx.proto that we write, as a protobufjs reflection schema. Field numbers and the enum values are
// those of onnx/onnx.proto (IR version 10); fields that we never write are left out, which protobuf permits.
import protobuf from 'protobufjs';

/** TensorProto.DataType. */
export const dataTypes = {
  float32: 1,
  int32: 6,
  int64: 7,
  bool: 9,
  float16: 10,
  float64: 11,
  bfloat16: 16,
} as const;

/** AttributeProto.AttributeType. */
export const attributeTypes = { float: 1, int: 2, text: 3, graph: 5, ints: 7 } as const;

const one = (type: string, id: number) => ({ type, id });
const many = (type: string, id: number) => ({ rule: 'repeated', type, id });

/** proto2, like onnx.proto: a field that is set to zero is written, it is not the same as an absent one. */
const message = (fields: Record<string, object>) => ({ edition: 'proto2', fields }) as protobuf.IType;

const root = protobuf.Root.fromJSON({
  nested: {
    ModelProto: message({
      ir_version: one('int64', 1),
      producer_name: one('string', 2),
      graph: one('GraphProto', 7),
      opset_import: many('OperatorSetIdProto', 8),
    }),
    OperatorSetIdProto: message({ domain: one('string', 1), version: one('int64', 2) }),
    GraphProto: message({
      node: many('NodeProto', 1),
      name: one('string', 2),
      initializer: many('TensorProto', 5),
      input: many('ValueInfoProto', 11),
      output: many('ValueInfoProto', 12),
      value_info: many('ValueInfoProto', 13),
    }),
    NodeProto: message({
      input: many('string', 1),
      output: many('string', 2),
      name: one('string', 3),
      op_type: one('string', 4),
      attribute: many('AttributeProto', 5),
      domain: one('string', 7),
    }),
    AttributeProto: message({
      name: one('string', 1),
      f: one('float', 2),
      i: one('int64', 3),
      s: one('bytes', 4),
      g: one('GraphProto', 6),
      ints: many('int64', 8),
      type: one('int32', 20),
    }),
    TensorProto: message({
      dims: many('int64', 1),
      data_type: one('int32', 2),
      name: one('string', 8),
      raw_data: one('bytes', 9),
    }),
    ValueInfoProto: message({ name: one('string', 1), type: one('TypeProto', 2) }),
    TypeProto: message({ tensor_type: one('TensorTypeProto', 1) }),
    TensorTypeProto: message({ elem_type: one('int32', 1), shape: one('TensorShapeProto', 2) }),
    TensorShapeProto: message({ dim: many('DimensionProto', 1) }),
    DimensionProto: message({ dim_value: one('int64', 1) }),
  },
});

export const ModelProto = root.lookupType('ModelProto');
