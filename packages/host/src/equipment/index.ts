export { type Equipment, openEquipment } from "./equipment.ts";
export { memoryFile } from "./memory.ts";
