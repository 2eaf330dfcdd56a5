export { backupsIn, type Equipment, openEquipment } from "./equipment.ts";
export { memoryFile, userMemory } from "./memory.ts";
