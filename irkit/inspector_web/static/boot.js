// Start the page on a server.

import { start } from "./main.js";
import { ServerSource } from "./source/server.js";

start(new ServerSource());
