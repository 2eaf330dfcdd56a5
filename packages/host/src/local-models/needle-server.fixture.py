"""A small HTTP server over the Needle model, in the chat completions format. Needle calls tools, and the server writes the
calls as text, as models without native calls do: <tool_call>{"name": ..., "arguments": ...}</tool_call>. Its argument is the
folder of the package. It prints its port."""

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

sys.path.insert(0, sys.argv[1])
import needle  # noqa: E402


def content_for(body):
    last = body["messages"][-1]
    if last["role"] == "tool":
        return "It says: " + last["content"]
    tools = [tool["function"] for tool in body.get("tools", [])]
    agent = needle.Needle(tools=tools)
    calls = agent.complete(last["content"]).get("function_calls") or []
    agent.close()
    if not calls:
        return "No tool does that."
    written = [json.dumps({"name": call["name"], "arguments": call["arguments"]}) for call in calls]
    return "I use a tool.\n" + "\n".join("<tool_call>\n" + call + "\n</tool_call>" for call in written)


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_error(404)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        message = {"role": "assistant", "content": content_for(body)}
        answer = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Handler)
print("port", server.server_port, flush=True)
server.serve_forever()
