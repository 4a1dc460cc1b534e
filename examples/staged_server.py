"""A small shop that proposes instead of acting: `add_to_cart` puts nothing into the cart, it asks for a tap of the owner.

docs/servers.md explains the pattern. In a host that does not know it, the text of the result says what to do.
Needs the official SDK, `pip install "mcp>=2.3"`; in mcp.json: {"command": "python3", "args": ["staged_server.py"]}.
"""

from typing import Annotated

from mcp.server.mcpserver import MCPServer
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import Field

shop = MCPServer("shop", instructions="A cart that is filled by the owner's taps.")
cart: list[str] = []

Item = Annotated[str, Field(description="What to add.", min_length=1, max_length=100)]
Count = Annotated[int, Field(description="How many.", ge=1, le=99)]


@shop.tool(annotations=ToolAnnotations(read_only_hint=True))
def add_to_cart(item: Item, count: Count) -> CallToolResult:
    """Proposes to put something into the cart. The owner confirms it; nothing is added before."""
    action = {
        "tool": "confirm_add",
        "arguments": {"item": item, "count": count},
        "summary": f"Add {count} × {item} to the cart",
        "label": "Add",
        "cancel_label": "Leave it",
        "ttl_s": 3600,
        "group": "cart",
    }
    text = f"Not added yet: {count} × {item} waits for the owner to confirm it."
    return CallToolResult(content=[TextContent(type="text", text=text)], _meta={"claw/actions": [action]})


@shop.tool(meta={"ui": {"visibility": ["app"]}}, annotations=ToolAnnotations(destructive_hint=False))
def confirm_add(item: Item, count: Count) -> str:
    """Puts something into the cart. For the tap alone: models are not offered it."""
    cart.append(f"{count} × {item}")
    return "In the cart: " + ", ".join(cart)


if __name__ == "__main__":
    shop.run(transport="stdio")
