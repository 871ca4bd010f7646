import java.lang.reflect.Field;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import software.amazon.dynamodb.services.local.main.ServerRunner;
import software.amazon.dynamodb.services.local.server.DynamoDBProxyServer;

/** Starts DynamoDB Local on loopback only. It has no setting for that, so its connectors are told before it starts. */
public final class LoopbackDynamo {
    public static void main(String[] arguments) throws Exception {
        DynamoDBProxyServer dynamo = ServerRunner.createServerFromCommandLineArgs(arguments);
        Field inner = DynamoDBProxyServer.class.getDeclaredField("server");
        inner.setAccessible(true);
        for (Connector connector : ((Server) inner.get(dynamo)).getConnectors()) {
            ((ServerConnector) connector).setHost("127.0.0.1");
        }
        dynamo.start();
        dynamo.join();
    }
}
