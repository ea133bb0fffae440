"""Pictures of plans, made offline: one scene, written as Mermaid text or as SVG."""
