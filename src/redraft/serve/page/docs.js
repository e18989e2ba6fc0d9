// Starts Swagger UI. Without a validator URL, nothing is sent to other servers.
SwaggerUIBundle({ url: "openapi.json", dom_id: "#swagger-ui", deepLinking: true, validatorUrl: null });
