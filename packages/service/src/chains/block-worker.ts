import { answerJobs } from "../workers/worker.ts";
import { type BlockWorkName, runBlockWork } from "./block-work.ts";

answerJobs((name, args) => runBlockWork(name as BlockWorkName, args));
