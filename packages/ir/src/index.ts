export { Assembler, type Code, type Handler, type Label } from './assemble.ts';
export { BUILTIN_STRUCTS, BUILTIN_TYPES, type BuiltinStruct, type BuiltinStructName } from './builtin-types.ts';
export {
  BUILTIN_NAMES,
  BUILTINS,
  type BuiltinName,
  type BuiltinSpec,
  builtinMethods,
  builtinSignature,
  builtinSpec,
  isBuiltin,
  STD_MODULES,
  stdModule,
} from './builtins.ts';
export { disassemble } from './disassemble.ts';
export { MESSAGE_TYPES, type MessageType } from './message-types.ts';
export {
  checkModule,
  emptyModule,
  formatModule,
  IR_VERSION,
  type IrAgent,
  type IrConstant,
  type IrDecorator,
  type IrEnum,
  type IrField,
  type IrFunction,
  type IrListen,
  type IrMcp,
  type IrModel,
  type IrModule,
  type IrPipeline,
  type IrStruct,
  type IrSupervisor,
  type IrTest,
  type IrTool,
  parseModule,
  SUPERVISED,
} from './module.ts';
export {
  type Instruction,
  OPCODE_NAMES,
  OPCODES,
  OPERANDS,
  type OpcodeName,
  type OpcodeSpec,
  type Operand,
  type OperandKind,
  opcode,
} from './opcodes.ts';
export {
  formatType,
  parseSignature,
  parseType,
  type Signature,
  SignatureError,
  type SignatureParam,
  type TypeExpr,
} from './signature.ts';
export { validateModule } from './validate.ts';
